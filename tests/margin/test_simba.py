import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from mfbench_margin import Simba

EXACT = {"rtol": 0, "atol": 1e-9}
UTILITIES = [("linear", 1.0), ("sigmoid", 1.0), ("sigmoid", 7.0)]


def two_gaussians(seed, n=120, n_features=6):
    """Only the first two features are informative."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_features))
    X[:, :2] += 2.5 * y[:, None]
    return X, y


@pytest.mark.parametrize(("utility", "beta"), UTILITIES)
@pytest.mark.parametrize("seed", range(3))
def test_online_equals_definition(neighbours, messy_table, utility, beta, seed):
    X, y = messy_table(seed)
    X = 0.1 * X
    fitted = Simba(utility=utility, beta=beta, n_draws=60, n_random_starts=0, random_state=seed).fit(X, y)
    targets = np.array(neighbours.targets(y))
    draws = targets[np.random.RandomState(seed).randint(len(targets), size=60)]
    expected = neighbours.simba_online(X[:, :-1], y, draws, np.ones(X.shape[1] - 1), utility, beta)
    assert_allclose(fitted.weights_[:-1], expected, **EXACT)
    assert fitted.weights_[-1] == 0
    assert fitted.n_skipped_ == 1
    assert fitted.n_iter_ == 60
    error = neighbours.leave_one_out_error(X, y, 1, fitted.weights_)
    assert fitted.training_error_ == pytest.approx(error)
    assert len(fitted.objective_trace_) == 2


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("utility", ["linear", "sigmoid"])
def test_informative_features_win(mode, utility):
    X, y = two_gaussians(2)
    fitted = Simba(mode, utility, random_state=0).fit(X, y)
    assert set(np.argsort(-fitted.weights_)[:2]) == {0, 1}
    assert fitted.weights_.max() == 1
    assert fitted.weights_.min() >= 0
    assert fitted.weights_[2:].max() < 0.5 * fitted.weights_[:2].max()
    assert fitted.training_error_ < 0.1


@pytest.mark.parametrize("factor", [1e-100, 1e-3, 7.0, 1e100])
def test_batch_does_not_depend_on_units(factor):
    X, y = two_gaussians(3)
    base, other = (Simba("batch", random_state=0).fit(c * X, y) for c in (1.0, factor))
    assert_allclose(other.weights_, base.weights_, **EXACT)
    assert_allclose(np.array(other.objective_trace_) / factor, base.objective_trace_, **EXACT)
    sigmoid = Simba("batch", "sigmoid", 2.0, random_state=0).fit(X, y).weights_
    assert_allclose(
        Simba("batch", "sigmoid", 2.0 / factor, random_state=0).fit(factor * X, y).weights_, sigmoid, **EXACT
    )


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_online_survives_extreme_units(factor):
    X, y = two_gaussians(4)
    for utility in ("linear", "sigmoid"):
        weights = Simba(utility=utility, n_draws=50, random_state=0).fit(factor * X, y).weights_
        assert np.isfinite(weights).all()
        assert weights.max() == 1


def test_one_feature_has_nowhere_to_climb():
    X, y = two_gaussians(6)
    fitted = Simba("batch", random_state=0).fit(X[:, :1], y)
    assert fitted.weights_.tolist() == [1]
    assert fitted.converged_
    assert Simba(random_state=0).fit(X[:, :1], y).weights_.tolist() == [1]


def test_smallest_training_error_of_all_starts_is_kept():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 2, 40)
    errors = [Simba(n_random_starts=k, n_draws=100, random_state=0).fit(X, y).training_error_ for k in range(6)]
    assert (np.diff(errors) <= 0).all()
    assert errors[-1] < errors[0]


def test_same_seed_same_bits():
    X, y = two_gaussians(9)
    for mode in ("online", "batch"):
        first, again, other = (Simba(mode, n_random_starts=2, random_state=s).fit(X, y) for s in (1, 1, 2))
        assert_array_equal(first.weights_, again.weights_)
        if mode == "online":
            assert not np.array_equal(first.weights_, other.weights_)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_nothing_varies(mode):
    with pytest.warns(RuntimeWarning, match="no feature"):
        fitted = Simba(mode).fit(np.ones((4, 2)), ["b", "a", "b", "a"])
    assert fitted.degenerate_
    assert fitted.weights_.tolist() == [0, 0]
    assert fitted.predict([[1.0, 2.0]]).tolist() == ["b"]


@pytest.mark.parametrize("k", [1, 4])
def test_predicts_by_nearest_neighbours(neighbours, messy_table, k):
    X, y = messy_table(9)
    fitted = Simba(n_neighbors=k, random_state=0).fit(X, y)
    expected = [neighbours.knn(X, y, q, k, fitted.weights_) for q in 0.9 * X]
    assert_array_equal(fitted.predict(0.9 * X), [winner for winner, _ in expected])
    assert_allclose(fitted.predict_proba(0.9 * X), [votes for _, votes in expected], **EXACT)


def test_more_features_than_samples():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(20, 300)), np.arange(20) % 2
    for mode in ("online", "batch"):
        fitted = Simba(mode, n_random_starts=1, random_state=0).fit(X, y)
        assert np.isfinite(fitted.weights_).all()
        assert fitted.weights_.max() == 1


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), mode=st.sampled_from(["online", "batch"]))
def test_invariances(messy_table, seed, n_classes, mode):
    X, y = messy_table(seed, n_classes)
    rng = np.random.default_rng(seed)
    # Few steps: where a feature's weight passes a tie of neighbours, rounding errors would grow.
    simba = Simba(mode, n_random_starts=0, n_draws=10, max_iter=1, random_state=0)
    base = simba.fit(X, y).weights_
    order = rng.permutation(X.shape[1])
    assert_allclose(simba.fit(X[:, order], y).weights_, base[order], **EXACT)
    assert_allclose(simba.fit(X, np.array(list("decab"))[y]).weights_, base, **EXACT)
    assert_allclose(simba.fit(X + rng.integers(-9, 9, X.shape[1]), y).weights_, base, **EXACT)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_classifies_wine(mode):
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    assert Simba(mode, n_random_starts=1, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        Simba().fit(np.eye(4), y)


@in_turn(
    "parameters",
    [{"mode": "both"}, {"utility": "log"}, {"beta": 0.0}, {"n_draws": 0}, {"tol": 0.0}, {"n_random_starts": -1}],
)
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="parameter of Simba"):
        Simba(**parameters).fit(np.eye(4), [0, 1, 0, 1])
