import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from mfbench_margin import NCADiagonal
from mfbench_margin._soft.nca import correct_probability, soft_margin

EXACT = {"rtol": 0, "atol": 1e-9}


@in_turn("sigma", [1e-6, 1e6])
@in_turn("objective", ["margin", "nca"])
@in_turn("factor", [1e-6, 1.0, 1e6])
def test_extremes_give_no_nan(messy_table, sigma, objective, factor):
    X, y = messy_table(6)
    fitted = NCADiagonal(objective, sigma, max_iter=10, n_random_starts=1, random_state=0).fit(factor * X, y)
    assert np.isfinite(fitted.weights_).all()
    assert np.isfinite(fitted.objective_trace_).all()
    assert fitted.weights_.sum() == pytest.approx(1)
    assert fitted.weights_[-1] == 0


@pytest.mark.parametrize("objective", ["margin", "nca"])
def test_objective_grows(neighbours, objective):
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 5)) + 2 * np.eye(3, 5)[y]
    fitted = NCADiagonal(objective, 0.5, n_random_starts=0).fit(X, y)
    trace = fitted.objective_trace_
    assert (np.diff(trace) >= -1e-12).all()
    assert trace[-1] > trace[0]
    assert fitted.n_iter_ == len(trace) - 1
    assert fitted.converged_
    start = np.full(5, 0.2)
    if objective == "margin":
        assert trace[0] == pytest.approx(neighbours.soft_margin(X, y, start, 0.5))
        assert trace[-1] == pytest.approx(neighbours.soft_margin(X, y, fitted.weights_, 0.5))
    else:
        assert trace[0] == pytest.approx(neighbours.nca(X, y, np.sqrt(start / 0.5)))
    assert not NCADiagonal(objective, 0.5, max_iter=1, n_random_starts=0).fit(X, y).converged_


def test_margin_ends_at_a_stationary_point():
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 4)) + y[:, None] * [1.5, 1, 0, 0]
    X -= X.mean(axis=0)
    fitted = NCADiagonal(sigma=0.1, tol=1e-13, max_iter=2000, n_random_starts=0).fit(X, y)
    gradient = soft_margin(X, y, fitted.weights_, 0.1)[1]
    used = fitted.weights_ > 0
    assert np.ptp(gradient[used]) < 1e-3 * np.abs(gradient).max()
    assert gradient[~used].max(initial=-np.inf) <= gradient[used].max() + 1e-3


@pytest.mark.parametrize("objective", ["margin", "nca"])
def test_informative_features_win(objective):
    rng = np.random.default_rng(9)
    y = np.arange(150) % 2
    X = rng.normal(size=(150, 6))
    X[:, :2] += 2.5 * y[:, None]
    fitted = NCADiagonal(objective, 0.2, n_random_starts=2, random_state=0).fit(X, y)
    assert fitted.weights_[:2].sum() > 0.8
    assert fitted.training_error_ < 0.15


def test_smallest_training_error_of_all_starts_is_kept(neighbours):
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 2, 40)
    fits = [NCADiagonal("nca", n_random_starts=k, random_state=0).fit(X, y) for k in range(4)]
    assert (np.diff([fitted.training_error_ for fitted in fits]) <= 0).all()
    error = neighbours.leave_one_out_error(X, y, 1, fits[-1].weights_)
    assert fits[-1].training_error_ == pytest.approx(error)


@pytest.mark.parametrize("objective", ["margin", "nca"])
def test_same_seed_same_bits(messy_table, objective):
    X, y = messy_table(11)
    first, again = (NCADiagonal(objective, n_random_starts=2, random_state=1).fit(X, y) for _ in range(2))
    assert_array_equal(first.weights_, again.weights_)


def test_nothing_varies():
    with pytest.warns(RuntimeWarning, match="no feature"):
        fitted = NCADiagonal().fit(np.ones((4, 2)), ["b", "a", "b", "a"])
    assert fitted.degenerate_
    assert fitted.weights_.tolist() == [0, 0]
    assert fitted.n_iter_ == 0
    assert fitted.predict([[1.0, 2.0]]).tolist() == ["b"]


@pytest.mark.parametrize("objective", ["margin", "nca"])
@pytest.mark.parametrize("n_features", [1, 200])
def test_one_feature_and_more_features_than_samples(objective, n_features):
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(12, n_features)), np.arange(12) % 3
    fitted = NCADiagonal(objective, n_random_starts=1, random_state=0).fit(X, y)
    assert fitted.weights_.sum() == pytest.approx(1)
    assert fitted.weights_.min() >= 0


def test_large_sigma_leaves_one_feature():
    rng = np.random.default_rng(14)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + y[:, None] * [1, 3, 2, 0]
    assert_allclose(NCADiagonal(sigma=1e6, random_state=0).fit(X, y).weights_, [0, 1, 0, 0], **EXACT)


def test_no_metric_is_better_than_none():
    """The probability is largest where all neighbours are equally probable, at v = 0."""
    X, y = np.random.default_rng(12).normal(size=(12, 1)), np.arange(12) % 3
    value = correct_probability(X - X.mean(), y, np.zeros(1))[0]
    fitted = NCADiagonal("nca", n_random_starts=0).fit(X, y)
    assert fitted.weights_.tolist() == [1]
    assert fitted.objective_trace_[-1] == pytest.approx(value)
    assert value == pytest.approx(3 / 11)


@pytest.mark.parametrize("k", [1, 4])
def test_predicts_by_nearest_neighbours(neighbours, messy_table, k):
    X, y = messy_table(13)
    fitted = NCADiagonal("nca", n_neighbors=k, n_random_starts=0).fit(X, y)
    expected = [neighbours.knn(X, y, q, k, fitted.weights_) for q in 0.9 * X]
    assert_array_equal(fitted.predict(0.9 * X), [winner for winner, _ in expected])
    assert_allclose(fitted.predict_proba(0.9 * X), [votes for _, votes in expected], **EXACT)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), objective=st.sampled_from(["margin", "nca"]))
def test_invariances(messy_table, seed, n_classes, objective):
    X, y = messy_table(seed, n_classes)
    rng = np.random.default_rng(seed)
    # Few steps: rounding errors grow from step to step.
    nca = NCADiagonal(objective, max_iter=2, n_random_starts=0)
    base = nca.fit(X, y).weights_
    order = rng.permutation(X.shape[1])
    assert_allclose(nca.fit(X[:, order], y).weights_, base[order], **EXACT)
    assert_allclose(nca.fit(X, np.array(list("decab"))[y]).weights_, base, **EXACT)
    assert_allclose(nca.fit(X + rng.integers(-9, 9, X.shape[1]), y).weights_, base, **EXACT)


@pytest.mark.parametrize("objective", ["margin", "nca"])
def test_classifies_wine(objective):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    fitted = NCADiagonal(objective, 0.25, n_random_starts=1, random_state=0).fit(X[::2], y[::2])
    assert fitted.score(X[1::2], y[1::2]) > 0.85


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        NCADiagonal().fit(np.eye(4), y)


@pytest.mark.parametrize("parameters", [{"objective": "J"}, {"sigma": 0.0}, {"max_iter": 0}, {"n_random_starts": -1}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="parameter of NCADiagonal"):
        NCADiagonal(**parameters).fit(np.eye(4), [0, 1, 0, 1])
