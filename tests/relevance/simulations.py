"""The simulations of the paper: the selections of each method, from the numbers or from their halves.

Run as ``python tests/relevance/simulations.py`` to print detection rate, false-alarm rate
and false discovery proportion with 95 % intervals of the means (Student).
"""

import argparse

import numpy as np
from scipy import stats

from mfbench_baselines.lasso import LassoSelector
from mfbench_datasets.ground_truth.rfvm import rfvm_regression_1, rfvm_regression_2
from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking


def fitted(estimator):
    """Return what the estimator itself selects."""
    return lambda X, y: estimator.fit(X, y).feature_importances_ > 0


def above(estimator, part):
    """Return the features whose importance exceeds a part of the largest one."""

    def select(X, y):
        weights = estimator.fit(X, y).feature_importances_
        return weights > part * weights.max()

    return select


def first(estimator, count):
    """Return the features of the largest importances."""

    def select(X, y):
        order = np.argsort(-estimator.fit(X, y).feature_importances_, kind="stable")
        return np.isin(np.arange(X.shape[1]), order[:count])

    return select


# Each entry takes a seed and returns a function of X and y that returns the selected features as a mask.
METHODS = {
    "RFVM, paper, 7 bins": lambda s: fitted(RFVM("paper")),
    "RFVM, paper, 10 bins": lambda s: fitted(RFVM("paper", bins=10, target_bins=10)),
    "RFVM, paper, 16 bins": lambda s: fitted(RFVM("paper", bins=16, target_bins=16)),
    "RFVM, paper, 32 bins": lambda s: fitted(RFVM("paper", bins=32, target_bins=32)),
    "RFVM, paper, 16 x 7 bins": lambda s: fitted(RFVM("paper", bins=16, target_bins=7)),
    "RFVM, paper, n_eff 3 n": lambda s: fitted(RFVM("paper", n_eff=3000)),
    "RFVM, paper, n_eff 10 n": lambda s: fitted(RFVM("paper", n_eff=10000)),
    "RFVM, paper, calibrated noise": lambda s: fitted(RFVM("paper", noise="calibrated", random_state=s)),
    "RFVM, paper, calibrated noise, 0.95": lambda s: fitted(
        RFVM("paper", noise="calibrated", quantile=0.95, random_state=s)
    ),
    "RFVM, default": lambda s: fitted(RFVM(random_state=s)),
    "RFVM, default, 0.95": lambda s: fitted(RFVM(quantile=0.95, random_state=s)),
    "linear RVM": lambda s: fitted(RFVM("paper", kernel="linear")),
    "linear RVM, above 0.1 of the largest": lambda s: above(RFVM("paper", kernel="linear"), 0.1),
    "FVM, paper, kernel": lambda s: fitted(FVM("paper", tuning="kernel", random_state=s)),
    "FVM, paper, refit": lambda s: fitted(FVM("paper", random_state=s)),
    "FVM, paper, refit, one SE": lambda s: fitted(FVM("paper", one_standard_error=True, random_state=s)),
    "FVM, paper, null": lambda s: fitted(FVM("paper", tuning="null", random_state=s)),
    "FVM, default": lambda s: fitted(FVM(random_state=s)),
    "FVM, default, one SE": lambda s: fitted(FVM(one_standard_error=True, random_state=s)),
    "FVM, default, null": lambda s: fitted(FVM(tuning="null", random_state=s)),
    "P-SVM, paper, kernel": lambda s: fitted(PSVM("paper", C=0.01, tuning="kernel", random_state=s)),
    "P-SVM, paper, refit": lambda s: fitted(PSVM("paper", C=0.01, random_state=s)),
    "P-SVM, default": lambda s: fitted(PSVM(random_state=s)),
    "ranking, paper": lambda s: fitted(KernelRanking("paper", random_state=s)),
    "ranking, default": lambda s: fitted(KernelRanking(random_state=s)),
    "ranking, default, 0.95": lambda s: fitted(KernelRanking(quantile=0.95, random_state=s)),
    "ranking, first 20": lambda s: first(KernelRanking("paper", random_state=s), 20),
    "lasso, cross-validated": lambda s: fitted(LassoSelector(random_state=s)),
}


SIMULATIONS = {1: (rfvm_regression_1, 3), 2: (rfvm_regression_2, 20)}  # the first so many features are relevant


def rates(make, rounds, simulation=2, cut=False):
    """Return detection, false-alarm rate and false discovery proportion of every round, of shape (n_rounds, 3)."""
    generate, relevant = SIMULATIONS[simulation]
    found = []
    for seed in range(rounds):
        raw = generate(n_samples=1000, seed=seed)
        centred = raw.X - raw.X.mean(axis=0)
        y = (raw.y > np.median(raw.y)).astype(int) if cut else raw.y
        selected = make(seed)(centred / centred.std(axis=0), y)
        hits, alarms = selected[:relevant].sum(), selected[relevant:].sum()
        found.append((hits / relevant, alarms / (raw.X.shape[1] - relevant), alarms / max(1, hits + alarms)))
    return np.array(found)


def main(rounds, names, simulation, cut):
    """Print a row of a Markdown table for each method."""
    factor = stats.t.ppf(0.975, rounds - 1) / np.sqrt(rounds)
    for name in names or METHODS:
        found = rates(METHODS[name], rounds, simulation, cut)
        halves = factor * found.std(axis=0, ddof=1)
        cells = [f"{mean:.3f} ± {half:.3f}" for mean, half in zip(found.mean(axis=0), halves, strict=True)]
        print("|", " | ".join([name, *cells]), "|", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="methods; all by default")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--simulation", type=int, choices=SIMULATIONS, default=2)
    parser.add_argument("--cut", action="store_true", help="the target is the half of the numbers, above their median")
    main(**vars(parser.parse_args()))
