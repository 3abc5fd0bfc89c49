"""The two simulations of the paper: detection and false-alarm rates over 20 rounds against reference figures.

The reference figures (mean and standard deviation of 20 rounds) were measured by an independent implementation with
other draws. A mean agrees if it lies within 2.5 standard errors of the difference; with 30 comparisons, two standard
errors would be missed once or twice by chance alone.
"""

import numpy as np
import pytest

from mfbench_datasets.ground_truth_rfvm import rfvm_regression_1, rfvm_regression_2
from mfbench_relevance import FVM, PSVM, RFVM

ROUNDS = 20
# method: detection, its sd, false-alarm rate, its sd
SECOND = {
    "paper, 7 bins": (lambda s: RFVM("paper"), 0.138, 0.069, 0.000, 0.002),
    "paper, 10 bins": (lambda s: RFVM("paper", bins=10, target_bins=10), 0.232, 0.077, 0.000, 0.002),
    "paper, 16 bins": (lambda s: RFVM("paper", bins=16, target_bins=16), 0.617, 0.124, 0.276, 0.040),
    "paper, 32 bins": (lambda s: RFVM("paper", bins=32, target_bins=32), 0.735, 0.089, 0.544, 0.042),
    "paper, 16 x 7 bins": (lambda s: RFVM("paper", bins=16, target_bins=7), 0.300, 0.078, 0.000, 0.002),
    "paper, n_eff 3 n": (lambda s: RFVM("paper", n_eff=3000), 0.298, 0.097, 0.002, 0.005),
    "paper, n_eff 10 n": (lambda s: RFVM("paper", n_eff=10000), 0.585, 0.113, 0.259, 0.071),
    "7 bins, noise .99": (lambda s: RFVM("paper", noise="calibrated", random_state=s), 0.310, 0.090, 0.003, 0.006),
    "7 bins, noise .95": (
        lambda s: RFVM("paper", noise="calibrated", quantile=0.95, random_state=s), 0.367, 0.096, 0.019, 0.012,
    ),
    "calibrated .99": (lambda s: RFVM(random_state=s), 0.410, 0.085, 0.008, 0.012),
    "calibrated .95": (lambda s: RFVM(quantile=0.95, random_state=s), 0.470, 0.071, 0.045, 0.025),
    "linear RVM": (lambda s: RFVM("paper", kernel="linear"), 0.718, 0.103, 0.307, 0.062),
    "FVM, kernel loss": (lambda s: FVM("paper", tuning="kernel", random_state=s), 0.995, 0.015, 0.978, 0.017),
    "FVM, refit loss": (lambda s: FVM("paper", random_state=s), 0.365, 0.122, 0.016, 0.021),
    "FVM, refit loss, one SE": (
        lambda s: FVM("paper", one_standard_error=True, random_state=s), 0.312, 0.109, 0.004, 0.009,
    ),
    "FVM, null": (lambda s: FVM("paper", tuning="null", random_state=s), 0.320, 0.088, 0.006, 0.010),
    "P-SVM, refit loss": (lambda s: PSVM("paper", C=0.01, random_state=s), 0.360, 0.122, 0.017, 0.026),
}  # fmt: skip


def rates(make, rounds=ROUNDS):
    """Return detection and false-alarm rate of every round."""
    found = []
    for seed in range(rounds):
        raw = rfvm_regression_2(n_samples=1000, seed=seed)
        support = make(seed).fit(raw.X, raw.y).support_
        found.append((support[:20].mean(), support[20:].mean()))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SECOND)
def test_second_simulation(name):
    make, *reference = SECOND[name]
    found = rates(make)
    for values, mean, sd in zip(found.T, reference[::2], reference[1::2], strict=True):
        error = np.sqrt((values.var(ddof=1) + sd**2) / ROUNDS)
        assert abs(values.mean() - mean) < 2.5 * error, f"{values.mean():.3f} ± {values.std(ddof=1):.3f}, not {mean}"


def test_presets_in_short():
    """Five rounds: as published hardly a false alarm and few detections; calibrated twice as many."""
    paper, ours = rates(lambda s: RFVM("paper"), 5), rates(lambda s: RFVM(random_state=s), 5)
    assert 0.05 <= paper[:, 0].mean() <= 0.25
    assert paper[:, 1].mean() <= 0.01
    assert 0.30 <= ours[:, 0].mean() <= 0.52
    assert ours[:, 1].mean() <= 0.03


FIRST = {
    "paper": (lambda s: RFVM("paper"), [0.1, 1.0, 0.0], 0.0),
    "paper, 16 bins": (lambda s: RFVM("paper", bins=16, target_bins=16), [1.0, 1.0, 1.0], 35),
    "calibrated, 32 x 8 bins": (lambda s: RFVM(bins=32, target_bins=8, random_state=s), [0.9, 1.0, 1.0], 1.6),
    "calibrated, 32 x 4 bins": (lambda s: RFVM(bins=32, random_state=s), [0.7, 1.0, 1.0], 0.9),
    "linear RVM": (lambda s: RFVM("paper", kernel="linear"), [1.0, 1.0, 0.4], 30),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_first_simulation(name):
    """Bins as wide as the paper's average the sine away; 32 bins find it."""
    make, expected, false = FIRST[name]
    found = []
    for seed in range(10):
        raw = rfvm_regression_1(seed=seed)
        found.append(make(seed).fit(raw.X, raw.y).support_)
    share = np.mean(found, axis=0)
    assert np.abs(share[:3] - expected).max() <= 0.4
    assert abs(share[3:].sum() - false) <= max(1.5, 0.2 * false)
