"""XGBoost's interactions: gains of pairs computed by hand, and planted effects."""

import numpy as np
import pytest

from mfbench_baselines.classifiers import XGBoostClassifier, XGBoostPairs, pair_gains


def leaf():
    return {"nodeid": 9, "leaf": 0.1}


def split(feature, gain, *children):
    return {"split": f"f{feature}", "gain": gain, "children": list(children or (leaf(), leaf()))}


def test_pair_gains_by_hand():
    trees = [
        # The split on f0 gains more than the split on f2 above it, that on f1 less; f1 after f1 is not a pair.
        split(2, 1.0, split(0, 5.0, leaf(), split(1, 2.0)), split(1, 0.5, split(1, 4.0), leaf())),
        split(0, 1.5, split(2, 3.0), leaf()),
        leaf(),
    ]
    total = 1.0 + 5.0 + 2.0 + 0.5 + 4.0 + 1.5 + 3.0
    assert pair_gains(trees) == {(0, 2): pytest.approx((5.0 + 3.0) / total)}
    assert pair_gains([leaf()]) == {}


def test_pairs_of_planted_effects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    together = XGBoostPairs(n_estimators=30, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0)
    pairs = together.interaction_importances_
    assert np.unravel_index(pairs.argmax(), pairs.shape) == (1, 4)
    np.testing.assert_array_equal(pairs, pairs.T)
    assert not np.diag(pairs).any() and pairs.sum() / 2 <= 1
    others = np.delete(pairs[np.triu_indices(6, 1)], list(zip(*np.triu_indices(6, 1), strict=True)).index((1, 4)))
    assert pairs[1, 4] > 5 * others.max()
    apart = XGBoostPairs(n_estimators=30, max_depth=2, random_state=0).fit(X, X[:, 1] + X[:, 4] > 0)
    assert apart.interaction_importances_[1, 4] < 0.3 * pairs[1, 4]


def test_the_trees_are_those_of_xgboost():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 3, 100)
    one, other = (kind(n_estimators=5).fit(X, y) for kind in (XGBoostPairs, XGBoostClassifier))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    wide = XGBoostPairs(n_estimators=2).fit(rng.normal(size=(20, 5001)), np.arange(20) % 2)
    assert not hasattr(wide, "interaction_importances_")
