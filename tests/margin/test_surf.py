"""SURF and its relatives: against the definition in plain loops, by hand, against scikit-rebate, and odd input."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from pairwise import pairwise
from threadpoolctl import threadpool_limits

import mfbench_margin

NAN = np.nan
EXACT = {"rtol": 0, "atol": 1e-10}
RULES = {
    "SURF": (False, "ignored"),
    "SURFStar": (False, "differences"),
    "MultiSURF": (True, "ignored"),
    "MultiSURFStar": (True, "similarities"),
}
PEERS = {"SURF": "SURF", "SURFStar": "SURFstar", "MultiSURF": "MultiSURF", "MultiSURFStar": "MultiSURFstar"}
every = in_turn("name", RULES)


def fit(name, X, y, nominal=None, **parameters):
    return getattr(mfbench_margin, name)(categorical_features=nominal, **parameters).fit(X, y)


def weights(name, X, y, nominal=None, **parameters):
    return fit(name, X, y, nominal, **parameters).feature_importances_


def expected(oracles, name, X, y, nominal=None, miss="observed"):
    return oracles.radius(X, y, *RULES[name], miss, nominal)


# Against the definition


COLUMNS = [(5, 0, 0), (0, 0, 6), (2, 1, 3), (1, 0, 0), (0, 0, 1), (0, 3, 0)]


@pytest.mark.parametrize(
    ("name", "columns", "missing", "n_classes", "miss"),
    pairwise(RULES, COLUMNS, [0.0, 0.15, 0.6], [2, 3, 5], ["observed", "prior"]),
)
def test_equals_definition(oracles, make_table, name, columns, missing, n_classes, miss):
    n_numeric, n_grid, n_nominal = columns
    seed = 100 * n_numeric + 10 * n_nominal + n_classes
    X, y, nominal = make_table(seed, 23, n_numeric, n_grid, n_nominal, missing, n_classes)
    assert_allclose(
        weights(name, X, y, nominal, miss=miss), expected(oracles, name, X, y, nominal, miss), **EXACT
    )  # fmt: skip


@in_turn("name, missing", [("SURF", True), ("SURFStar", False), ("MultiSURF", False), ("MultiSURFStar", True)])
def test_equals_definition_over_several_blocks_and_tiles(oracles, make_table, name, missing):
    X, y, nominal = make_table(5, 300, 4, 1, 5, 0.0, 3)
    if missing:
        X[::7, 2] = NAN
    assert_allclose(weights(name, X, y, nominal), expected(oracles, name, X, y, nominal), **EXACT)


@every
def test_more_features_than_samples(oracles, make_table, name):
    X, y, nominal = make_table(2, 8, 40, 5, 20, 0.05)
    assert_allclose(weights(name, X, y, nominal), expected(oracles, name, X, y, nominal), **EXACT)


@every
@in_turn("seed", range(3))
def test_ties_duplicates_a_single_member_and_a_constant(oracles, messy_table, name, seed):
    X, y = messy_table(seed)
    fitted = fit(name, X, y)
    assert fitted.n_skipped_ == 1
    assert_allclose(fitted.feature_importances_, expected(oracles, name, X, y), **EXACT)
    assert fitted.feature_importances_[-1] == 0


# By hand


def test_one_feature_by_hand():
    # Distances over the range 4: 0-1 1/4, 0-2 3/4, 0-3 1, 1-2 1/2, 1-3 3/4, 2-3 1/4; their sum 3.5, twice, over 16.
    X, y = np.array([[0.0], [1], [3], [4]]), np.array([0, 0, 0, 1])
    # Within 7/16: 0 and 1 are hits at 1/4; 2 has the miss 3 at 1/4; 3 is alone in its class.
    assert_allclose(weights("SURF", X, y), [(-1 / 4 - 1 / 4 + 1 / 4) / 3], **EXACT)
    # Beyond it, 0: hit 2 at 3/4, miss 3 at 1; 1: hit 2 at 1/2, miss 3 at 3/4; 2: hits 0 and 1 at 3/4 and 1/2.
    far = (3 / 4 - 1) + (1 / 2 - 3 / 4) + 5 / 8
    assert_allclose(weights("SURFStar", X, y), [(-1 / 4 + far) / 3], **EXACT)


def test_a_weight_that_is_only_rounding_errors_is_zero():
    """In far rows the class itself, as a feature, loses all that it gains in near ones."""
    rows = np.random.default_rng(0).normal(size=(40, 3))[:, :2]
    X = np.column_stack([np.vstack([rows, rows]), np.repeat([0, 1], 40)])
    surf = mfbench_margin.SURFStar().fit(X, np.repeat([0, 1], 40))
    assert surf.weights_raw_[2] == 0.0
    assert not surf.get_support()[2]


def test_misses_of_several_classes_by_hand():
    # From row 0, all other rows but the last are near; the categories make two of the three misses differ.
    X = np.array([[0.0, 0], [0, 0], [0, 1], [0, 1], [0, 0], [9, 1]])
    y = np.array([0, 0, 1, 1, 2, 2])
    observed, prior = (weights("MultiSURF", X, y, [1], miss=miss) for miss in ("observed", "prior"))
    assert observed.shape == prior.shape == (2,)
    assert abs(observed - prior).max() > 1e-3


@every
def test_a_distance_equal_to_the_threshold_is_neither_near_nor_far(name):
    if RULES[name][0]:
        # All pairs of different rows are equally far, in floating point only up to rounding.
        X = np.eye(12) * 0.1
        assert_array_equal(weights(name, X, np.arange(12) % 2), 0)
    assert fit(name, np.ones((6, 2)), [0, 1] * 3).degenerate_


# Against scikit-rebate


@every
@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_agrees_with_skrebate_where_both_define_the_same(name, kind, n_classes):
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), np.arange(n_classes), rng.integers(0, n_classes, 110) ** 2 % n_classes])
    X = rng.normal(size=(len(y), 7)) if kind == "numbers" else rng.integers(0, 3, (len(y), 7)).astype(float)
    X[:, 0] += y
    nominal = [] if kind == "numbers" else list(range(7))
    assert_allclose(weights(name, X, y, nominal), skrebate_weights(name, X, y, nominal), **EXACT)
    if RULES[name][0]:
        X[rng.random(X.shape) < 0.1] = NAN
        assert_allclose(weights(name, X, y, nominal), skrebate_weights(name, X, y, nominal), **EXACT)


@every
def test_differs_from_skrebate_elsewhere(make_table, name):
    """As the notes of the classes name it."""
    X, y, nominal = make_table(0, 60, 3, 0, 3)
    mixed = (X, y, nominal)
    lonely = (X[:, ~nominal], np.where(np.arange(60) == 7, 2, y), None)
    cases = {"both kinds": mixed, "a single member": lonely}
    if not RULES[name][0]:
        unknown = X[:, ~nominal].copy()
        unknown[::5, 1] = NAN
        cases["unknown values"] = (unknown, y, None)
    for case, (Z, labels, categories) in cases.items():
        theirs = skrebate_weights(name, Z, labels, [] if categories is None else np.flatnonzero(categories).tolist())
        assert np.abs(weights(name, Z, labels, categories) - theirs).max() > 1e-4, case


def skrebate_weights(name, X, y, nominal):
    skrebate = pytest.importorskip("skrebate")
    peer = getattr(skrebate, PEERS[name])(n_features_to_select=X.shape[1], categorical_features=nominal, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it divides by the number of features known in both, maybe 0
        return peer.fit(X.copy(), y).feature_importances_


# Properties


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.2]),
    n_classes=st.integers(2, 4),
    name=st.sampled_from(sorted(RULES)),
)
def test_invariances(make_table, seed, missing, n_classes, name):
    X, y, nominal = make_table(seed, 30, 2, 3, 2, missing, n_classes)
    rng = np.random.default_rng(seed)
    base = weights(name, X, y, nominal)
    order, rows = rng.permutation(X.shape[1]), rng.permutation(len(X))
    assert_allclose(weights(name, X[:, order], y, nominal[order]), base[order], **EXACT)
    assert_allclose(weights(name, X[rows], y[rows], nominal), base, **EXACT)
    assert_allclose(weights(name, X, np.array(["d", "b", "c", "a"])[y], nominal), base, **EXACT)
    shifted = np.where(nominal, X, X * rng.uniform(0.1, 9, X.shape[1]) + rng.integers(-9, 9, X.shape[1]))
    assert_allclose(weights(name, shifted, y, nominal), base, **EXACT)


@every
def test_threads_change_no_bit(make_table, name):
    X, y, nominal = make_table(3, 200, 3, 1, 3, 0.05, 3)
    with threadpool_limits(1):
        one = weights(name, X, y, nominal)
    with threadpool_limits(2):
        assert_array_equal(weights(name, X, y, nominal), one)


@every
def test_equal_columns_weigh_the_same(make_table, name):
    X, y, nominal = make_table(4, 90, 5, 1, 4, 0.1)
    doubled = weights(name, np.hstack([X, X]), y, np.tile(nominal, 2))
    assert_array_equal(doubled[:10], doubled[10:])


# Parameters and odd input


@every
def test_number_of_features(make_table, name):
    X, y, _ = make_table(6, 60, 5, 0, 0)
    fitted = fit(name, X, y, n_features_to_select=2)
    assert fitted.get_support().sum() == 2
    assert set(fitted.get_support(indices=True)) == set(np.argsort(-fitted.feature_importances_)[:2])
    assert_array_equal(fit(name, X, y).get_support(), fitted.feature_importances_ > 0)
    with pytest.raises(ValueError, match="from 1 to 5, the number of features of X; got 6"):
        fit(name, X, y, n_features_to_select=6)


@in_turn(
    "parameters, message",
    [
        ({"miss": "pooled"}, "'miss' parameter"),
        ({"n_features_to_select": 0}, "'n_features_to_select' parameter"),
        ({"categorical_features": [2]}, "indices from 0 to 1"),
    ],
)
def test_refuses_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        mfbench_margin.MultiSURF(**parameters).fit(np.eye(4, 2), [0, 1, 0, 1])


@every
def test_a_feature_without_known_values_weighs_nothing(make_table, name):
    X, y, _ = make_table(7, 40, 3, 0, 0)
    unknown = np.column_stack([X, np.full(40, NAN)])
    assert_allclose(weights(name, unknown, y), [*weights(name, X, y), 0], **EXACT)


@every
def test_rows_without_any_known_value_count_for_nothing(make_table, name):
    X, y, _ = make_table(8, 40, 3, 0, 0)
    unknown = np.vstack([X, np.full((2, 3), NAN)])
    assert np.isfinite(weights(name, unknown, np.append(y, [0, 1]))).all()


@every
def test_extreme_magnitudes(make_table, name):
    X, y, _ = make_table(4, 30, 4, 0, 0)
    X = X / np.abs(X).max(axis=0)
    assert_allclose(weights(name, X * [1.7e308, 1e-300, 1, 2**-1000], y), weights(name, X, y), **EXACT)
