import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from pairwise import pairwise

from mfbench_margin import Relief, ReliefF

NAN = np.nan
EXACT = {"rtol": 0, "atol": 1e-10}


def weights(X, y, k=3, nominal=None, **parameters):
    return ReliefF(k, categorical_features=nominal, **parameters).fit(X, y).feature_importances_


# Against the definition


COLUMNS = [(5, 0, 0), (4, 2, 0), (0, 0, 4), (0, 2, 3), (2, 1, 3), (1, 0, 0), (0, 0, 1)]


@pytest.mark.parametrize(("columns", "missing", "n_classes"), pairwise(COLUMNS, [0.0, 0.15, 0.5], [2, 3, 5]))
def test_equals_definition(oracles, make_table, columns, missing, n_classes):
    n_numeric, n_grid, n_nominal = columns
    seed = 100 * n_numeric + 10 * n_nominal + n_classes
    X, y, nominal = make_table(seed, 24, n_numeric, n_grid, n_nominal, missing, n_classes)
    for k in (1, 4, 100):
        assert_allclose(weights(X, y, k, nominal), oracles.relieff(X, y, k, nominal), **EXACT)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("largest", [5, 100])
def test_one_fit_gives_the_weights_for_fewer_neighbours(oracles, make_table, largest, missing):
    """Classes of different sizes, some smaller than the number of neighbours; and more than a sorted list holds."""
    X, y, nominal = make_table(4, 90, 2, 1, 2, missing, 3)
    X, y = X[(y > 0) | (np.arange(90) < 30)], y[(y > 0) | (np.arange(90) < 30)]
    fitted = ReliefF(largest, categorical_features=nominal).fit(X, y)
    for k in (1, 3, 5, 40, 100):
        if k <= largest:
            assert_allclose(fitted.importances_at(k), weights(X, y, k, nominal), **EXACT)
    k = min(largest, 40)
    assert_allclose(fitted.importances_at(k), oracles.relieff(X, y, k, nominal), **EXACT)
    assert_array_equal(fitted.importances_at(largest), fitted.feature_importances_)
    for k, wrong in ((0, ">= 1"), (largest + 1, f"<= {largest}"), (2.7, "an instance of int")):
        with pytest.raises((TypeError, ValueError), match=wrong):
            fitted.importances_at(k)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_samples", [1, 7, 60])
def test_sampling_equals_definition_on_the_drawn_samples(oracles, make_table, n_samples, missing):
    X, y, nominal = make_table(3, 25, 2, 1, 2, missing, 3)
    fitted = ReliefF(3, n_samples=n_samples, categorical_features=nominal, random_state=7).fit(X, y)
    assert len(fitted.sample_indices_) == n_samples
    expected = oracles.relieff(X, y, 3, nominal, fitted.sample_indices_)
    assert_allclose(fitted.feature_importances_, expected, **EXACT)


# By hand


@in_turn("nominal", [[True, False], [False, False]])
@in_turn("constant", [0.0, 0.1, -1e300, 5e-324])
def test_constant_feature_weighs_exactly_nothing(make_table, nominal, constant):
    X, y, _ = make_table(1, 30, 1, 0, 0, n_classes=3)
    X = np.column_stack([np.full(30, constant), X])
    assert weights(X, y, 3, nominal)[0] == 0
    X[::4, 0] = NAN
    assert weights(X, y, 3, nominal)[0] == 0


# Degenerate input


def test_every_sample_alone_in_its_class():
    with pytest.raises(ValueError, match="alone in its class"):
        ReliefF().fit(np.arange(6).reshape(3, 2), [0, 1, 2])


def test_one_class():
    with pytest.raises(ValueError, match="at least 2 classes"):
        ReliefF().fit(np.arange(6).reshape(3, 2), [1, 1, 1])


def test_more_features_than_samples(oracles, make_table):
    X, y, nominal = make_table(2, 8, 40, 5, 20, 0.05)
    assert_allclose(weights(X, y, 2, nominal), oracles.relieff(X, y, 2, nominal), **EXACT)


def test_all_constant_is_degenerate():
    fitted = ReliefF().fit(np.ones((6, 2)), [0, 1] * 3)
    assert fitted.degenerate_
    assert not fitted.get_support().any()
    assert fitted.weights_.tolist() == [0, 0]


def test_extreme_magnitudes(make_table):
    X, y, _ = make_table(4, 30, 4, 0, 0)
    expected = weights(X, y)
    X = X / np.abs(X).max(axis=0)
    assert_allclose(weights(X * [1.7e308, 1e-300, 1, 2**-1000], y), expected, **EXACT)


@in_turn(
    "features, message",
    [
        ([True], "mask of length 1"),
        ([2], "indices from 0 to 1"),
        ([-1], "indices from 0 to 1"),
        ([0.5], "booleans or integers"),
        ([[0]], "one-dimensional"),
        ("colour", "categorical_features"),
    ],
)
def test_refuses_wrong_categorical_features(features, message):
    with pytest.raises(ValueError, match=message):
        ReliefF(categorical_features=features).fit(np.eye(4, 2), [0, 1, 0, 1])


@in_turn("parameters", [{"n_neighbors": 0}, {"n_samples": 0}, {"n_neighbors": 1.5}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="must be"):
        ReliefF(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_mask_and_indices_mean_the_same(make_table):
    X, y, nominal = make_table(8, 30, 2, 1, 2)
    assert_array_equal(weights(X, y, 3, nominal), weights(X, y, 3, np.flatnonzero(nominal)))
    assert_array_equal(weights(X, y, 3, nominal), weights(X, y, 3, nominal.tolist()))
    assert_array_equal(weights(X, y, 3, []), weights(X, y, 3, None))


def test_input_is_left_alone(make_table):
    X, y, nominal = make_table(9, 30, 2, 1, 2, 0.1)
    before = X.copy()
    weights(X, y, 3, nominal)
    assert_array_equal(X, before)


# Properties

TABLE = {
    "seed": st.integers(0, 10**6),
    "k": st.integers(1, 12),
    "missing": st.sampled_from([0.0, 0.2]),
    "n_classes": st.integers(2, 4),
}


@settings(max_examples=25, deadline=None)
@given(**TABLE)
def test_invariances(make_table, seed, k, missing, n_classes):
    X, y, nominal = make_table(seed, 30, 2, 3, 2, missing, n_classes)
    rng = np.random.default_rng(seed)
    base = weights(X, y, k, nominal)
    assert (np.abs(base) <= 1 + 1e-12).all()

    order = rng.permutation(X.shape[1])
    assert_allclose(weights(X[:, order], y, k, nominal[order]), base[order], **EXACT)
    names = np.array(["d", "b", "c", "a"])
    assert_allclose(weights(X, names[y], k, nominal), base, **EXACT)
    numeric = ~nominal
    assert_allclose(weights(X + numeric * rng.integers(-9, 9), y, k, nominal), base, **EXACT)
    assert_allclose(weights(X * np.where(numeric, rng.uniform(0.1, 9), 1), y, k, nominal), base, **EXACT)
    codes = np.array([7.5, -1, 3, 2])
    renamed = X.copy()
    is_known = nominal & ~np.isnan(X)
    renamed[is_known] = codes[X[is_known].astype(int)]
    assert_allclose(weights(renamed, y, k, nominal), base, **EXACT)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_one_neighbour_equals_relief(make_table, seed, n_classes):
    X, y, _ = make_table(seed, 30, 3, 2, n_classes=n_classes)
    relief = Relief(diff="abs", scale="range", metric="manhattan", miss="prior").fit(X, y)
    assert_allclose(weights(X, y, 1), relief.feature_importances_, **EXACT)
    if n_classes == 2:
        pooled = Relief(diff="abs", scale="range", metric="manhattan").fit(X, y)
        assert_allclose(weights(X, y, 1), pooled.feature_importances_, **EXACT)


def test_exclusive_or_of_two_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(int)
    w = weights(X, y, 5, np.ones(6, dtype=bool))
    assert w[[1, 4]].min() > 0.3
    assert np.abs(w[[0, 2, 3, 5]]).max() < 0.15


def test_same_seed_same_bits(make_table):
    X, y, nominal = make_table(10, 60, 3, 1, 2, 0.1)
    first, again, other = (weights(X, y, 3, nominal, n_samples=20, random_state=s) for s in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# Against another implementation


def skrebate_weights(X, y, k):
    skrebate = pytest.importorskip("skrebate")
    return skrebate.ReliefF(n_neighbors=k, n_features_to_select=X.shape[1]).fit(X.copy(), y).feature_importances_


@pytest.mark.parametrize("k", [1, 10, 29])
@pytest.mark.parametrize("sizes", [(75, 75), (120, 30), (50, 50, 50)], ids=str)
def test_agrees_with_skrebate_where_both_define_the_same(k, sizes):
    """The docstring of ReliefF lists the differences."""
    rng = np.random.default_rng(k)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(150, 8))
    X[:, 0] += y
    X[:, 1] = rng.permutation(np.arange(150) % 11)
    assert_allclose(weights(X, y, k), skrebate_weights(X, y, k), **EXACT)


def test_differs_from_skrebate_elsewhere():
    """So that the docstring stays true of it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)
    few, unknown = X.copy(), X.copy()
    few[:, 0] = rng.permutation(np.arange(60) % 10)
    unknown[5, 1] = NAN
    unequal = np.repeat([0, 1, 2], [30, 20, 10])
    for Z, labels, k in ((few, y, 5), (unknown, y, 5), (X, unequal, 5), (X, y, 30)):
        assert np.abs(weights(Z, labels, k) - skrebate_weights(Z, labels, k)).max() > 1e-4
