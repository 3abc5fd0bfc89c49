"""Which pairs of a selector and a learner `mfbench select` should try first: learnt from similar data, or fixed?

    python tests/benchmarks/select_order_study.py measure tests/benchmarks/select_pairs.csv --data-dir MIRROR
    python tests/benchmarks/select_order_study.py judge tests/benchmarks/select_pairs.csv

The first command scores every pair on about sixty datasets: five folds of at most 500 rows, the best of five numbers of
features. The second compares orders by their regret: how much the best of the first k pairs stays behind the best of
all, on average over k = 1, 2, 4 and 8. An order learnt from meta-features and landmarks sees no dataset of the family
that it is judged on, and neither does the order of average ranks. The learnt one is used if a one-sided Wilcoxon test
over families finds its regret smaller at the level .05, by Bonferroni over the two models; else, the order of averages.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import mfbench
from mfbench.host.registry import load_registry
from mfbench_select.features import encoder_of
from mfbench_select.pipeline import estimator_of
from mfbench_select.suite import LEARNERS, SELECTORS, Pipeline

ALONE = [
    "breast-cancer", "breast-cancer-coimbra", "breast-gravier", "colon", "corral", "ecoli", "german", "glass",
    "haberman", "image-segmentation", "ionosphere", "iris", "letter", "leukemia", "liver", "lymphography", "magic",
    "page-blocks", "parkinsons", "pima", "prostate", "sonar", "soybean-small", "spambase", "statlog-heart",
    "urban-land-cover", "user-knowledge", "vertebral", "wdbc", "wholesale-customers", "wine", "yeast",
    "balance-scale", "mux6", "parity", "friedman-1", "correlated-blocks", "tic-tac-toe", "electrical-grid",
    "crowdsourced-mapping", "immigrate-noise",
]  # fmt: skip
RELATED = {
    "warts": ["cryotherapy", "immunotherapy"],
    "musk": ["musk-1"],
    "digits": ["optdigits", "pendigits"],
    "waveform": ["waveform-21", "waveform-40"],
    "wine-quality": ["wine-quality-red"],
    "led": ["led-7", "led-24"],
    "madelon": ["madelon-like"],
    "monks": ["monks-1", "monks-2", "monks-3"],
    "mofn": ["mofn-3-7-10"],
    "parity": ["parity5-plus-5", "xor"],
    "gametes": ["gametes-like", "gametes-like-mixture"],
    "rfvm": ["rfvm-simulation-1", "rfvm-simulation-2"],
    "views": ["two-views", "equal-views"],
}
"""The datasets that have relatives, by family."""
FAMILIES = {name: name for name in ALONE} | {name: family for family, names in RELATED.items() for name in names}
ROWS, FOLDS, SIZES = 500, 5, (1, 3, 8, 20, 50)
TRIED = (1, 2, 4, 8)
LANDMARKS = {
    "nearest": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "linear": LinearDiscriminantAnalysis(),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    "bayes": GaussianNB(),
}
REGISTRY = load_registry()
PAIRS = [f"{selector.code} {learner.code}" for selector in SELECTORS for learner in LEARNERS[False]]


def table_of(name, data_dir):
    """Return at most `ROWS` rows of a dataset as a frame of features, with the class codes."""
    data = mfbench.load_dataset(name, data_dir=data_dir, offline=True)
    X, y = data.X, np.asarray(data.y)
    frame = pd.DataFrame(X, columns=[str(place) for place in range(X.shape[1])])
    common = np.isin(y, np.flatnonzero(np.bincount(y) >= FOLDS))
    frame, y = frame[common].reset_index(drop=True), np.unique(y[common], return_inverse=True)[1]
    if len(y) > ROWS:
        kept, _ = train_test_split(np.arange(len(y)), train_size=ROWS, stratify=y, random_state=0)
        rare = np.isin(y[kept], np.flatnonzero(np.bincount(y[kept]) >= FOLDS))
        frame, y = frame.iloc[kept[rare]].reset_index(drop=True), np.unique(y[kept[rare]], return_inverse=True)[1]
    return frame, y, [str(place) for place in np.flatnonzero(data.categorical)]


def measure(name, data_dir):
    """Return one row: meta-features, and score and seconds of each pair."""
    warnings.simplefilter("ignore")
    frame, y, categories = table_of(name, data_dir)
    frame = frame.astype(dict.fromkeys(categories, "category"))
    numbers = [column for column in frame if column not in categories]
    n, p = frame.shape
    shares = np.bincount(y) / n
    row = {"dataset": name, "family": FAMILIES[name], "rows": n, "features": p, "classes": len(shares)}
    row |= {"largest": shares.max(), "categories": len(categories) / p, "missing": frame.isna().to_numpy().mean()}
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, y))
    encoder = encoder_of(numbers, categories)
    for landmark, estimator in LANDMARKS.items():
        row[landmark] = cross_val_score(make_pipeline(encoder, estimator), frame, y, cv=splits).mean()
    sizes = [size for size in SIZES if size < p] or [1]
    scores = {pair: np.zeros((FOLDS, len(sizes))) for pair in PAIRS}
    seconds = dict.fromkeys(PAIRS, 0.0)
    learners = {part.code: mfbench.make(part.expression, "classifier") for part in LEARNERS[False]}
    for learner in learners.values():
        if "random_state" in learner.get_params():
            learner.set_params(random_state=0)
    for fold, (train, test) in enumerate(splits):
        for part in SELECTORS:
            began = time.perf_counter()
            pipeline = estimator_of(Pipeline(part.code, 1, "LOG"), frame, REGISTRY, is_regression=False)
            steps = pipeline["features"].fit(frame.iloc[train], y[train])
            spent = time.perf_counter() - began
            encoded = [np.asarray(steps.encoder_.transform(frame.iloc[own])) for own in (train, test)]
            for place, size in enumerate(sizes):
                columns = np.isin(steps.owners_, np.argsort(-steps.weights_, kind="stable")[:size])
                for code, learner in learners.items():
                    began = time.perf_counter()
                    fitted = clone(learner).fit(encoded[0][:, columns], y[train])
                    pair = f"{part.code} {code}"
                    scores[pair][fold, place] = np.mean(fitted.predict(encoded[1][:, columns]) == y[test])
                    seconds[pair] += time.perf_counter() - began + spent / len(sizes)
    row |= {pair: own.mean(axis=0).max() for pair, own in scores.items()}
    return row | {f"seconds {pair}": own for pair, own in seconds.items()}


def meta_features(table):
    """Return the meta-features of each dataset, standardised."""
    n, p = np.log(table["rows"]), np.log(table["features"])
    own = {"rows": n, "features": p, "ratio": n - p, "classes": np.log(table["classes"])}
    own |= {name: table[name] for name in ("largest", "categories", "missing")}
    own |= {name: table[name] - table["largest"] for name in LANDMARKS}
    own["linear - nearest"] = table["linear"] - table["nearest"]
    return StandardScaler().fit_transform(pd.DataFrame(own))


def regret(scores, order):
    """Return how much the best of the first pairs of an order stays behind the best of all, on average over `TRIED`."""
    return np.mean([scores.max() - scores[order[:k]].max() for k in TRIED])


def judge(table):
    """Print the regret of the fixed, average and learnt orders, and the order of averages."""
    scores, families, meta = table[PAIRS].to_numpy(), table["family"].to_numpy(), meta_features(table)
    ranks = stats.rankdata(-scores, axis=1)
    behind = scores - scores.max(axis=1, keepdims=True)
    models = {
        "learnt (5 neighbours)": KNeighborsRegressor(5),
        "learnt (forest)": RandomForestRegressor(300, min_samples_leaf=3, random_state=0),
    }
    regrets = {name: np.zeros(len(table)) for name in ("fastest first", "averages", "random", *models)}
    fastest = np.argsort(np.add.outer(range(len(SELECTORS)), range(len(LEARNERS[False]))).ravel(), kind="stable")
    rng = np.random.default_rng(0)
    for family in np.unique(families):
        inside, outside = families == family, families != family
        average = np.argsort(ranks[outside].mean(axis=0), kind="stable")
        predicted = {name: clone(model).fit(meta[outside], behind[outside]) for name, model in models.items()}
        for place in np.flatnonzero(inside):
            regrets["fastest first"][place] = regret(scores[place], fastest)
            regrets["averages"][place] = regret(scores[place], average)
            draws = [regret(scores[place], rng.permutation(len(PAIRS))) for _ in range(200)]
            regrets["random"][place] = np.mean(draws)
            for name, model in predicted.items():
                order = np.argsort(-model.predict(meta[[place]])[0], kind="stable")
                regrets[name][place] = regret(scores[place], order)
    by_family = pd.DataFrame(regrets).groupby(families).mean()
    print(f"{len(table)} datasets of {len(by_family)} families; regret in percentage points")
    for name in regrets:
        worse = by_family["averages"] - by_family[name]
        p_value = stats.wilcoxon(worse, alternative="greater").pvalue if worse.any() else 1.0
        print(f"{name:22s} {100 * by_family[name].mean():5.2f}   smaller than that of the averages: p = {p_value:.3f}")
    print("order of averages, with mean rank and seconds of five folds:")
    for pair in best_first(table):
        print(f"  {pair:12s} {ranks[:, PAIRS.index(pair)].mean():5.1f} {table[f'seconds {pair}'].median():7.2f}")


def best_first(table):
    """Return the pairs by their mean rank over datasets."""
    ranks = stats.rankdata(-table[PAIRS].to_numpy(), axis=1).mean(axis=0)
    return [PAIRS[place] for place in np.argsort(ranks, kind="stable")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["measure", "judge"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.step == "judge":
        judge(pd.read_csv(options.file))
        return
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = {pool.submit(partial(measure, data_dir=options.data_dir), name): name for name in FAMILIES}
        for task in as_completed(tasks):
            try:
                rows.append(task.result())
            except mfbench.MfbenchError as error:
                print(f"{tasks[task]}: {error}", flush=True)
                continue
            print(f"{tasks[task]}: {len(rows)} of {len(tasks)}", flush=True)
            pd.DataFrame(rows).sort_values("dataset").round(4).to_csv(options.file, index=False)


if __name__ == "__main__":
    main()
