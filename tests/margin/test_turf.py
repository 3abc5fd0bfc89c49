"""TuRF: which features it removes, and what weights they get."""

from itertools import pairwise

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import MultiSURF, ReliefF, TuRF
from mfbench_margin.turf import _cut


def interaction(seed=0, n=240, p=40):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_equals_fits_to_ever_fewer_features():
    X, y = interaction(p=20)
    fitted = TuRF(removed=0.3, n_kept=8).fit(X, y)
    features, expected = np.arange(20), np.zeros(20, dtype=int)
    # 20 → 14 → ceil(9.8) = 10 → max(8, 7) = 8
    for iteration, n_left in enumerate((14, 10, 8), start=1):
        weights = MultiSURF().fit(X[:, features], y).feature_importances_
        order = np.argsort(-weights)
        expected[features[order[n_left:]]] = iteration
        features = np.sort(features[order[:n_left]])
    assert_array_equal(fitted.removed_in_, expected)
    assert fitted.n_iter_ == 3
    assert_array_equal(fitted.feature_importances_[features], MultiSURF().fit(X[:, features], y).feature_importances_)


def test_removed_features_weigh_less_than_all_that_remained_longer():
    X, y = interaction()
    fitted = TuRF().fit(X, y)
    weights, removed_in = fitted.feature_importances_, fitted.removed_in_
    groups = [weights[removed_in == 0], *(weights[removed_in == k] for k in range(fitted.n_iter_, 0, -1))]
    assert len(groups) == 7
    for better, worse in pairwise(groups):
        assert better.min() > worse.max()
    assert max(group.max() for group in groups[1:]) < 0
    first = MultiSURF().fit(X, y).feature_importances_
    gone = np.flatnonzero(removed_in == 1)
    assert_array_equal(gone[np.argsort(weights[gone])], gone[np.argsort(first[gone])])
    assert set(np.argsort(-weights)[:2]) == {0, 1}


def test_agrees_with_skrebate():
    skrebate = pytest.importorskip("skrebate")
    X, y = interaction(p=20)
    base = skrebate.MultiSURF(n_features_to_select=5)
    theirs = skrebate.TURF(base, pct=0.5, num_scores_to_return=5).fit(X.copy(), y).feature_importances_
    ours = TuRF(removed=0.5, n_kept=5).fit(X, y)
    kept = ours.removed_in_ == 0
    assert kept.sum() == 5
    assert_allclose(ours.feature_importances_[kept], theirs[kept], rtol=0, atol=1e-10)
    # There, features that are removed together weigh the same.
    assert [len(set(theirs[ours.removed_in_ == k])) for k in (1, 2)] == [1, 1]
    assert theirs[ours.removed_in_ == 1].max() < theirs[ours.removed_in_ == 2].min() < theirs[kept].min()


def test_few_features_are_those_of_the_base():
    X, y = interaction(p=10)
    fitted = TuRF(base="relieff", base_parameters={"n_neighbors": 5}).fit(X, y)
    assert_array_equal(fitted.feature_importances_, ReliefF(5).fit(X, y).feature_importances_)
    assert fitted.n_iter_ == 0


def test_categories_and_missing_values_reach_the_base(make_table):
    X, y, nominal = make_table(1, 80, 3, 2, 4, 0.1)
    fitted = TuRF(categorical_features=nominal).fit(X, y)
    assert_array_equal(fitted.feature_importances_, MultiSURF(categorical_features=nominal).fit(X, y).weights_raw_)
    assert_array_equal(fitted.categorical_, nominal)


def test_features_of_the_same_weight_stay_together():
    X, y = interaction(p=6)
    doubled = np.hstack([X, X, X])
    fitted = TuRF(removed=0.1, n_kept=3).fit(doubled, y)
    weights = fitted.feature_importances_.reshape(3, 6)
    assert_array_equal(weights[0], weights[1])
    assert_array_equal(weights[0], weights[2])
    assert fitted.n_iter_ > 0
    same = TuRF(n_kept=1).fit(np.repeat(X[:, :1], 5, axis=1), y)
    assert same.n_iter_ == 0
    assert len(set(same.feature_importances_)) == 1


def test_constant_features_weigh_nothing_and_are_not_counted():
    X, y = interaction(p=12)
    constant = np.column_stack([X, np.ones(len(X)), np.where(np.arange(len(X)) % 3, np.nan, 5.0)])
    fitted = TuRF().fit(constant, y)
    assert_array_equal(fitted.feature_importances_, [*TuRF().fit(X, y).feature_importances_, 0, 0])
    nothing = TuRF().fit(np.ones((6, 3)), [0, 1] * 3)
    assert_array_equal(nothing.feature_importances_, 0)
    assert nothing.degenerate_


def test_a_seed_reaches_the_base():
    X, y = interaction(p=12)
    parameters = {"base": "relieff", "base_parameters": {"n_samples": 5}}
    one, same, other = (TuRF(**parameters, random_state=s).fit(X, y).feature_importances_ for s in (0, 0, 1))
    assert_array_equal(one, same)
    assert (one != other).any()


@in_turn(
    "parameters, message",
    [
        ({"base": "relief"}, "'base' parameter"),
        ({"removed": 1.0}, "'removed' parameter"),
        ({"n_kept": 0}, "'n_kept' parameter"),
        ({"base_parameters": {"k": 3}}, "has 'k', which cannot be set for multisurf; use miss"),
        ({"base_parameters": {"random_state": 3}}, "has 'random_state', which cannot be set"),
        ({"base_parameters": {"miss": "pooled"}}, "'miss' parameter"),
    ],
)
def test_refuses_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TuRF(**parameters).fit(*interaction(n=30, p=4))


def test_the_order_of_rows_does_not_decide_between_equal_features():
    """A column and its complement weigh the same but for rounding, in whatever order the rows are added up."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        half = rng.integers(0, 2, size=(12, 7)).astype(float)
        X, y, order = np.hstack([half, 1.0 - half]), np.arange(12) % 2, rng.permutation(12)
        first, second = (TuRF(removed=0.3, n_kept=2).fit(X[rows], y[rows]) for rows in (np.arange(12), order))
        assert first.removed_in_.tolist() == second.removed_in_.tolist()


@pytest.mark.parametrize(("n", "removed", "left"), [(10, 0.7, 3), (100, 0.95, 5), (10, 0.25, 8)])
def test_a_share_is_that_of_the_decimal_number(n, removed, left):
    assert _cut(np.arange(n, dtype=float), removed, 1) == n - left
