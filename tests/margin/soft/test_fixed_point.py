import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin import IM4E
from mfbench_margin._soft import manhattan

CLOSE = {"rtol": 1e-9, "atol": 1e-9}

POLAR = np.array([[0.0, 0, 5], [3, 1, 5], [0, 0.1, 5], [3, 1.1, 5]]), np.array([0, 0, 1, 1])


def standardised(make_table, seed, n=30, n_classes=2, p=4):
    X, y, _ = make_table(seed, n, p - 1, 1, n_classes=n_classes)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def fitted(X, y, sample_weight=None, **parameters):
    return IM4E(**parameters).fit(X, y, sample_weight)


def test_start(oracles_soft, make_table):
    X, y = standardised(make_table, 12)
    model = fitted(X, y, init=[0, 2, 4, 2], max_iter=2, tol=0, sigma=0.3)
    weights, _ = oracles_soft.im4e(X, y, 0.3, 2, np.ones(30), [0, 0.25, 0.5, 0.25])
    assert_allclose(model.weights_, weights, **CLOSE)


def test_no_positive_margin():
    X, y = POLAR
    with pytest.warns(RuntimeWarning, match="IM4E: on average no feature"):
        model = fitted(X, y)
    assert model.degenerate_
    assert not model.converged_
    assert model.weights_.tolist() == [0.5, 0.5, 0]
    with pytest.warns(RuntimeWarning, match="all the weight"):
        assert fitted(X, y, degenerate="ray").weights_.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="no feature"):
        fitted(X, y, degenerate="raise")


def test_the_ray_is_the_best_of_a_bad_lot():
    X, y = POLAR
    table = manhattan.SoftManhattan(X, y)
    table.soften(np.full(3, 1 / 3), 1.0)
    margins = table.margins(np.ones(4))
    with pytest.warns(RuntimeWarning):
        weights = fitted(X, y, degenerate="ray").weights_
    feasible = np.random.default_rng(0).dirichlet([1, 1], 1000)
    assert (feasible @ margins[:2] <= weights @ margins).all()
    assert (weights @ margins) < 0


def test_all_features_constant():
    with pytest.warns(RuntimeWarning, match="constant"):
        model = fitted(np.full((6, 2), 0.1), [0, 1, 0, 1, 1, 1])
    assert model.weights_.tolist() == [0, 0]
    assert model.predict(np.full((2, 2), 0.1)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("init", "message"),
    [([1, 1], r"shape \(4,\)"), ([0, 0, 0, 0], "positive"), ([1, -1, 1, 1], "at least 0"), ([1, 1, 1, np.nan], "NaN")],
)
def test_refuses_wrong_start(init, message):
    with pytest.raises(ValueError, match=message):
        fitted(np.eye(4), [0, 1, 0, 1], init=init)
