"""Which samples are targets, and which data and prior weights are errors."""

import numpy as np
import pytest
from in_turn import in_turn

from mfbench_sqpfw import SQPFeatureWeighting
from mfbench_sqpfw._active_set.problem import prepare


def test_small_classes(noisy):
    X, y = noisy
    y = y.copy()
    y[0] = 2
    fitted = SQPFeatureWeighting().fit(X, y)
    assert fitted.n_skipped_ == 1
    assert fitted.target_hits_[0] == fitted.target_misses_[0] == -1
    assert 0 in SQPFeatureWeighting(theta=0.0).fit(np.r_[X[:1] * 0 + X[1] + 1e-3, X[1:]], y).target_misses_
    with pytest.raises(ValueError, match=r'1 of 80 samples lack 1 others of their class .* small_classes="skip"'):
        SQPFeatureWeighting(small_classes="error").fit(X, y)
    with pytest.raises(ValueError, match="no sample has 90 others of its class"):
        SQPFeatureWeighting(90).fit(X, y)


@in_turn(
    "w_bar, message",
    [
        (["a"] * 8, "w_bar must hold 8 numbers"),
        ([0.125j] * 8, "w_bar must hold 8 numbers"),
        (np.ones(8), "8 weights of at least 0 whose sum is 1"),
        (np.full(7, 1 / 7), "8 weights"),
        (np.eye(8)[0] * 2 - np.eye(8)[1], "8 weights"),
        (np.eye(8)[7], "w_bar is 0 for every feature that varies"),
    ],
)
def test_bad_prior(noisy, w_bar, message):
    X, y = noisy
    X = X.copy()
    X[:, 7] = 1.0
    with pytest.raises(ValueError, match=message):
        SQPFeatureWeighting(w_bar=w_bar).fit(X, y)


def test_prepared_data_lead_back_to_the_callers(noisy):
    X, y = noisy
    X = np.column_stack([np.ones(80), X])
    problem = prepare(X, y, kappa=2, lam=1)
    assert problem.n_features == 9 and problem.features.tolist() == list(range(1, 9))
    assert np.array_equal(problem.codes, y[problem.order]) and (np.diff(problem.codes) >= 0).all()
    assert np.allclose(problem.X + X[:, 1:].mean(axis=0), X[problem.order][:, 1:])
    assert problem.bar.sum() == pytest.approx(1) and len(problem.targets) == 80
