"""Which reading of Relief, ReliefF and Simba is closest to the IMMIGRATE paper's table 2, and more than by chance?

    python tests/benchmarks/printed_relief_study.py --data-dir MIRROR

The test was written down before its result was seen. For each dataset of the printed size, readings are ranked by how
near their accuracy is to the printed one. The statistic is the smallest mean rank of any reading over the datasets.
Under the hypothesis that no reading explains the column, ranks are random in each dataset: 100,000 permutations of the
readings within the datasets give the p-value, which so allows for the choice among them.

A reading is a set of features, or weights in the distance, before a nearest neighbour: ten folds, three times.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import mfbench
from mfbench_margin import Relief, ReliefF, Simba

LABELS = {
    "BCW": "breast-cancer-coimbra", "CRY": "cryotherapy", "CUS": "wholesale-customers", "ECO": "ecoli-igt",
    "GLA": "glass-igt", "HMS": "haberman", "IMM": "immunotherapy", "ION": "ionosphere-igt", "LYM": "lymphography-igt",
    "MON": "monks-1", "PAR": "parkinsons", "PID": "pima", "SMR": "sonar", "STA": "statlog-heart",
    "URB": "urban-land-cover-igt", "USE": "user-knowledge-igt", "WIN": "wine-igt",
}  # fmt: skip
OTHER_SIZE = {"LYM", "PAR", "STA"}
SELECTORS = {"REL": Relief(), "RFF": ReliefF(), "SIM": Simba(random_state=0)}
REPEATS, PERMUTATIONS = 3, 100_000
PUBLISHED = Path(__file__).parents[2] / "suites" / "published" / "immigrate2020_table2.csv"


def readings(weights, rng):
    """Return the factor of each feature in the distance, by the name of the reading."""
    p = len(weights)
    order = np.argsort(-weights, kind="stable")

    def kept(features):
        return np.isin(np.arange(p), features) * 1.0

    def part(share):
        return max(1, round(share * p))

    made = {"all features": np.ones(p), "weights in the distance": np.sqrt(np.maximum(weights, 0.0))}
    made["weights as factors"] = np.maximum(weights, 0.0)
    made["positive weights"], made["negative weights"] = (weights > 0) * 1.0, (weights <= 0) * 1.0
    made["best feature"], made["worst feature"] = kept(order[:1]), kept(order[-1:])
    for share in (0.25, 0.5, 0.75):
        size = part(share)
        made[f"first {share:.0%}"], made[f"last {share:.0%}"] = kept(order[:size]), kept(order[-size:])
        made[f"random {share:.0%}"] = kept(rng.permutation(p)[:size])
    return {name: factors if factors.any() else np.ones(p) for name, factors in made.items()}


def accuracies(X, y):
    """Return the mean accuracy of each reading, for each column of the table."""
    sums = {column: {} for column in SELECTORS}
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y):
            scaler = StandardScaler().fit(X[train])
            rows = [scaler.transform(X[part]) for part in (train, test)]
            for column, selector in SELECTORS.items():
                weights = np.asarray(selector.fit(rows[0], y[train]).feature_importances_, dtype=float)
                for name, factors in readings(weights, rng).items():
                    fitted = KNeighborsClassifier(1).fit(rows[0] * factors, y[train])
                    score = fitted.score(rows[1] * factors, y[test])
                    sums[column][name] = sums[column].get(name, 0.0) + score / (10 * REPEATS)
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    with PUBLISHED.open() as file:
        printed = {(row["dataset"], row["method"]): float(row["value"]) for row in csv.DictReader(file)}
    gaps = {column: [] for column in SELECTORS}
    for label, name in LABELS.items():
        if label in OTHER_SIZE:
            continue
        try:
            data = mfbench.load_dataset(name, data_dir=options.data_dir, offline=True)
        except mfbench.errors.MfbenchError as error:
            print(f"{name}: {error}")
            continue
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
        sizes = np.bincount(y)
        kept = np.isin(y, np.argsort(-sizes, kind="stable")[:2])
        for column, scores in accuracies(X[kept], y[kept]).items():
            names = list(scores)
            gaps[column].append([100 * scores[reading] - printed[label, column] for reading in names])
        print(f"{name}: {len(gaps['REL'])}", flush=True)
    rng = np.random.default_rng(0)
    for column, rows in gaps.items():
        gap = np.array(rows)
        ranks = rankdata(np.abs(gap), axis=1)
        means = ranks.mean(axis=0)
        by_chance = np.array([rng.permuted(ranks, axis=1).mean(axis=0).min() for _ in range(PERMUTATIONS)])
        p_value = (1 + np.sum(by_chance <= means.min())) / (1 + PERMUTATIONS)
        print(
            f"{column}: {len(gap)} datasets, {len(names)} readings; closest {names[means.argmin()]}, p = {p_value:.4f}"
        )
        for place in np.argsort(means)[:6]:
            own = gap[:, place]
            rms, mean = np.sqrt(np.mean(own**2)), own.mean()
            print(f"  {names[place]:26s} mean rank {means[place]:4.1f}, RMS {rms:4.1f}, mean {mean:+.1f}")


if __name__ == "__main__":
    main()
