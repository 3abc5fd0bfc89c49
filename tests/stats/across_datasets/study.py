"""How often claims over datasets are wrong, how often intervals cover, and what is found: simulated from a real run.

Run as ``python tests/stats/across_datasets/study.py`` to print the tables of docs/statistics.md (20 minutes). The
population is the default run of the suite uci without its constant guess: 31 datasets, 26 methods. Datasets are drawn
from it with replacement, folds are normal with the run's own covariance, and scores are rounded to test rows.
"""

import argparse
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import mfbench
from mfbench.stats.mean_differences import Error, MeanDifferences, ordered, squared_errors
from mfbench.stats.multiple import holm
from mfbench.stats.paired import wilcoxon_test

REPORTS = Path(__file__).parents[3] / "reports"
FLIPS = 2000
CAP = 0.1


class Population(NamedTuple):
    """Datasets to draw from."""

    base: np.ndarray  # mean score of each dataset
    effects: np.ndarray  # datasets by methods: true score minus base
    residuals: np.ndarray  # datasets by folds by methods
    rows: np.ndarray


class Draw(NamedTuple):
    """A simulated benchmark."""

    truth: pd.DataFrame
    scores: pd.DataFrame
    errors: dict
    group: np.ndarray  # methods with the same number are equal in the population

    def differences(self, **changes):
        """Return the comparisons over datasets."""
        scores = ordered(self.scores)
        places = self.scores.columns.get_indexer(scores.columns)
        errors = [self.errors[name].reordered(places) for name in scores.index]
        families = changes.pop("families", list(scores.index))
        return MeanDifferences(scores, errors, families, **{"flips": FLIPS} | changes)


@cache
def folds_of(name):
    """Return the scores of a published run, datasets by folds by methods, and the rows of each dataset."""
    run = mfbench.load_run(REPORTS / name / "claim.zip")
    table = run.outcomes.pivot(index=["dataset", "repeat", "fold"], columns="method", values="accuracy")
    rows = run.datasets.set_index("dataset")["n_samples"]
    return {str(label): own for label, own in table.groupby(level="dataset")}, rows


@cache
def population():
    """Return the default run's datasets, with effects shrunk to the variance that its folds do not explain."""
    folds, rows = folds_of("uci-quick")
    values = np.array([own.drop(columns="DUM").to_numpy() for own in folds.values()])
    residuals = values - values.mean(axis=1, keepdims=True)
    centred = residuals - residuals.mean(axis=2, keepdims=True)
    error = (1 / 5 + 1 / 4) * centred.var(axis=1, ddof=1).mean(axis=1)
    base = values.mean(axis=(1, 2))
    effects = values.mean(axis=1) - base[:, None]
    main = effects.mean(axis=0)
    own = effects - main
    kept = np.sqrt(np.maximum(0.0, 1.0 - error / own.var(axis=1, ddof=1)))
    return Population(base, main + own * kept[:, None], residuals / 2.0, rows[list(folds)].to_numpy())


def centred_when_capped(effects, residuals):
    """Return effects with a shift of each method, so that capped mean differences over the population are zero."""
    noise = np.einsum(
        "rdf,dfm->rdm", np.random.default_rng(0).normal(0.0, 0.45**0.5, (40, *residuals.shape[:2])), residuals
    )
    shifted = effects.copy()
    for _ in range(20):
        noisy = shifted + noise
        apart = np.clip(noisy[..., :, None] - noisy[..., None, :], -CAP, CAP)
        shifted = shifted - apart.mean(axis=(0, 1, 3))
    return shifted


def draw(design, rng, n_datasets, n_methods, folds=5, correlation=1.0):
    """Return a benchmark of a design: exchangeable, blocks, finite, skewed or realistic."""
    source = population()
    methods = rng.choice(source.effects.shape[1], n_methods, replace=False)
    picked = rng.integers(len(source.base), size=n_datasets)
    effects = source.effects[:, methods]
    if design == "skewed":
        effects = centred_when_capped(effects, source.residuals[:, :, methods])
    effects = effects[picked]
    group = np.zeros(n_methods, dtype=int)
    if design in ("exchangeable", "blocks"):
        effects = np.array([rng.permutation(row) for row in effects])
    if design == "blocks":
        group[n_methods // 2 :] = 1
        effects = effects - np.where(group == 1, 0.1 * np.abs(rng.normal(size=(n_datasets, 1))), 0.0)
    if design == "finite":
        effects = effects - effects.mean(axis=0)
    names = [f"m{i:02}" for i in range(n_methods)]
    labels = [f"d{i:02}" for i in range(n_datasets)]
    ratio, rows, truth = 1.0 / (folds - 1), source.rows[picked], source.base[picked][:, None] + effects
    own = source.residuals[picked][:, :, methods]
    common = rng.normal(size=(n_datasets, 1, own.shape[1])) * np.sqrt(correlation * ratio)
    values = truth[:, None] + (common + rng.normal(size=(n_datasets, folds, own.shape[1]))) @ own
    size = (rows // folds)[:, None, None]
    values = np.round((values if design == "finite" else np.clip(values, 0.0, 1.0)) * size) / size
    errors = {
        label: Error(squared_errors(each.T, 1.0 / folds + ratio, int(count)), folds - 1.0)
        for label, each, count in zip(labels, values, rows, strict=True)
    }
    return Draw(pd.DataFrame(truth, labels, names), pd.DataFrame(values.mean(axis=1), labels, names), errors, group)


def null_folds(rng, n_datasets, n_methods):
    """Return a benchmark of methods that are equal by construction, from the folds of a published run."""
    folds, rows = folds_of("null-calibration-many")
    columns = next(iter(folds.values())).columns
    learner = rng.choice(sorted({name[0] for name in columns}))
    methods = rng.choice([name for name in columns if name[0] == learner], n_methods, replace=False)
    labels = rng.choice(list(folds), n_datasets, replace=False)
    values = {label: folds[label][methods].to_numpy().T for label in labels}
    scores = pd.DataFrame([values[label].mean(axis=1) for label in labels], labels, methods)
    errors = {}
    for label, own in values.items():
        count = own.shape[1]
        errors[label] = Error(squared_errors(own, 1.0 / count + 1.0 / (count - 1), int(rows[label])), count - 1.0)
    return Draw(scores, scores, errors, np.zeros(n_methods, dtype=int))


def claims(frame, column, alpha=0.05):
    """Return the pairs that are claimed to differ, the better first."""
    columns = (frame[name].to_numpy() for name in ("first", "second", "mean", column))
    return {(a, b) if mean > 0 else (b, a) for a, b, mean, p_value in zip(*columns, strict=True) if p_value < alpha}


def wrong(made, found):
    """Return whether a claim is about two methods that are equal in the population."""
    group = dict(zip(made.scores.columns, made.group, strict=True))
    return any(group[a] == group[b] for a, b in found)


def wrong_families(design, n_datasets, n_methods, draws, seed=0, **changes):
    """Return how often any claim is wrong: of these datasets, and of datasets like these."""
    rng, counts = np.random.default_rng(seed), np.zeros(2)
    for _ in range(draws):
        made = (
            null_folds(rng, n_datasets, n_methods)
            if design == "folds"
            else draw(design, rng, n_datasets, n_methods, **changes)
        )
        found = made.differences()
        counts += [wrong(made, claims(found.these, "holm")), wrong(made, claims(found.like_these, "adjusted"))]
    return counts / draws


def found_pairs(n_datasets, n_methods, draws, seed=0, **changes):
    """Return the shares of pairs claimed to differ: of these datasets, of datasets like these, and by Wilcoxon."""
    rng, counts, pairs = np.random.default_rng(seed), np.zeros(3), n_methods * (n_methods - 1) / 2
    for _ in range(draws):
        made = draw("realistic", rng, n_datasets, n_methods, **changes)
        found = made.differences()
        values = made.scores.to_numpy().T
        wilcoxon = holm([wilcoxon_test(a, b).p_value for a, b in combinations(values, 2)]) < 0.05
        claimed = claims(found.these, "holm"), claims(found.like_these, "adjusted")
        counts += [*map(len, claimed), wilcoxon.sum()]
    return counts / draws / pairs


def coverage(n_datasets, draws, n_methods=5, seed=0, **changes):
    """Return how often intervals of single pairs cover: of these, of capped differences, and of shares."""
    rng, counts, n = np.random.default_rng(seed), np.zeros(3), 0
    for _ in range(draws):
        seed_of_methods = int(rng.integers(2**31))
        made = draw("realistic", np.random.default_rng(seed_of_methods), n_datasets, n_methods, **changes)
        # The same methods on many more datasets.
        whole = draw("realistic", np.random.default_rng(seed_of_methods), 2000, n_methods, **changes).scores
        found = made.differences()
        pairs = [[frame[name].to_numpy() for name in ("first", "second")] for frame in (found.these, found.like_these)]
        true = made.truth.mean()
        target = true[pairs[0][0]].to_numpy() - true[pairs[0][1]].to_numpy()
        counts[0] += np.sum((found.these["low"] <= target) & (target <= found.these["high"]))
        n += len(found.these)
        if not len(found.like_these):
            continue
        apart = whole[pairs[1][0]].to_numpy() - whole[pairs[1][1]].to_numpy()
        for place, values, prefix in ((1, np.clip(apart, -CAP, CAP), ""), (2, np.round(apart, 12) > 0.01, "better_")):
            target = values.mean(axis=0)
            low, high = found.like_these[f"{prefix}low"], found.like_these[f"{prefix}high"]
            counts[place] += np.sum((low <= target) & (target <= high))
    return np.where(counts > 0, counts / n, np.nan)


def joint_coverage(n_datasets, draws, n_methods=5, seed=0, **changes):
    """Return how often the joint intervals of all pairs cover all: on these datasets, and on datasets like these."""
    rng, counts = np.random.default_rng(seed), np.zeros(2)
    for _ in range(draws):
        seed_of_methods = int(rng.integers(2**31))
        made = draw("realistic", np.random.default_rng(seed_of_methods), n_datasets, n_methods, **changes)
        whole = draw("realistic", np.random.default_rng(seed_of_methods), 2000, n_methods, **changes).scores
        found = made.differences()
        for place, (frame, column) in enumerate(((found.these, "holm"), (found.like_these, "adjusted"))):
            first, second = frame["first"], frame["second"]
            if place == 0:
                target = made.truth.mean()[first].to_numpy() - made.truth.mean()[second].to_numpy()
            else:
                target = np.clip(whole[first].to_numpy() - whole[second].to_numpy(), -CAP, CAP).mean(axis=0)
            # As drawn: the interval of a pair that a step-down procedure separates ends at zero.
            mean, low, high = (frame[name].to_numpy() for name in ("mean", "low_all", "high_all"))
            is_apart = frame[column].to_numpy() < 0.05
            low = np.where(is_apart & (mean > 0), np.maximum(low, 0.0), low)
            high = np.where(is_apart & (mean < 0), np.minimum(high, 0.0), high)
            counts[place] += np.all((low <= target) & (target <= high))
    return counts / draws


def percent(values):
    """Format shares."""
    return " | ".join("–" if np.isnan(value) else f"{100 * value:.1f} %" for value in values)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=1000, help="simulated benchmarks of each row; fewer with 26 methods"
    )
    draws = parser.parse_args().draws
    many = max(1, draws // 4)
    print(
        "| any wrong claim | methods | datasets | these datasets | datasets like these |\n"
        "| --- | ---: | ---: | ---: | ---: |"
    )
    designs = [("exchangeable", {}), ("blocks", {}), ("skewed", {}), ("finite", {}), ("folds", {})]
    designs.append(("finite", {"correlation": 1.5}))
    for design, changes in designs:
        most = (20, 30) if design == "folds" else (26, 31)  # the published run with equal methods has fewer of both
        for n_methods, n_datasets in [(5, 5), (5, 8), (5, 13), (5, most[1]), (most[0], 13)]:
            these, others = wrong_families(design, n_datasets, n_methods, draws if n_methods == 5 else many, **changes)
            row = percent(
                [
                    these if design in ("finite", "folds") else np.nan,
                    others if n_datasets > 5 and design != "folds" else np.nan,
                ]
            )
            name = f"{design}, correlation of folds × 1.5" if changes else design
            print(f"| {name} | {n_methods} | {n_datasets} | {row} |", flush=True)
    print("\n| pairs found | methods | datasets | these datasets | datasets like these | Wilcoxon, Holm |")
    for n_methods, n_datasets in [(5, 5), (5, 8), (5, 13), (5, 20), (5, 31), (26, 13), (26, 31)]:
        row = percent(found_pairs(n_datasets, n_methods, draws // 2 if n_methods == 5 else draws // 20))
        print(f"| | {n_methods} | {n_datasets} | {row} |", flush=True)
    print("\n| intervals that cover | datasets | these datasets | capped mean | share |")
    for n_datasets in (5, 13, 31):
        print(f"| | {n_datasets} | {percent(coverage(n_datasets, draws // 4))} |", flush=True)
    print("\n| joint intervals that cover all pairs | datasets | these datasets | capped mean |")
    for n_datasets in (13, 31):
        print(f"| | {n_datasets} | {percent(joint_coverage(n_datasets, draws // 4))} |", flush=True)


if __name__ == "__main__":
    main()
