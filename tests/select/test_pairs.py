"""Pairs that interact: the three-way interaction of contingency tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from mfbench_select.pairs import interacting_pairs, interaction_p


def frame_of(rng, n=300, p=6):
    return pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{k}" for k in range(p)])


def test_the_deviance_is_that_of_a_logistic_regression():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    y = rng.random(400) < expit(0.5 * a - 0.3 * b + 1.2 * a * b - 0.5)
    table = np.array([[[np.sum((y == k) & (a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)] for k in (0, 1)])
    deviances = []
    for columns in ((a, b), (a, b, a * b)):
        X = np.column_stack(columns)
        model = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(X, y)
        deviances.append(-2 * np.log(model.predict_proba(X)[np.arange(400), y.astype(int)]).sum())
    assert interaction_p(table[None].astype(float))[0] == pytest.approx(
        chi2.sf(deviances[0] - deviances[1], 1), rel=1e-3
    )


def test_exclusive_or_is_found_and_sums_are_not():
    rng = np.random.default_rng(1)
    X = frame_of(rng)
    y = pd.Series((X["x1"] * X["x4"] > 0).astype(int))
    (pair,) = interacting_pairs(X, y)
    assert (pair.first, pair.second, pair.alone) == ("x1", "x4", True) and pair.p_value < 1e-10
    assert not any(pair.alone for pair in interacting_pairs(X, pd.Series((X["x1"] + X["x4"] > 0).astype(int))))


def test_numbers_and_categories():
    rng = np.random.default_rng(2)
    X = frame_of(rng, 500)
    X["kind"] = pd.Series(rng.choice(["a", "b"], 500)).astype("category")
    y = pd.Series(np.where(X["kind"] == "a", X["x0"], -X["x0"]) + 0.3 * rng.normal(size=500))
    assert [(pair.first, pair.second) for pair in interacting_pairs(X, y)] == [("x0", "kind")]


@pytest.mark.parametrize("seed", range(3))
def test_noise_constants_and_missing_values(seed):
    rng = np.random.default_rng(seed)
    X = frame_of(rng, 200, 8)
    X["constant"], X["empty"] = 1.0, np.nan
    X.loc[::3, "x2"] = np.nan
    assert not interacting_pairs(X, pd.Series(rng.integers(0, 3, 200)))
    assert not interacting_pairs(X.head(10), pd.Series(rng.integers(0, 2, 10)))


def test_pairs_of_noise_at_the_stated_level():
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        alarms += bool(interacting_pairs(frame_of(rng, 120, 10), pd.Series(rng.integers(0, 2, 120))))
    assert alarms <= 11  # 5 % of 100 and two and a half standard errors
