"""Boruta and XGBoost's pairs: their rules by hand, and planted effects."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_baselines.boruta import Boruta, decide
from mfbench_baselines.classifiers import XGBoostClassifier
from mfbench_baselines.xgboost_pairs import XGBoostPairs, pair_gains


@parametrize_with_checks(  # no expected failures
    [Boruta(max_iter=2, n_estimators=3, random_state=0), XGBoostPairs(n_estimators=10, random_state=0)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_decisions_are_those_of_the_exact_binomial_test():
    rounds, alpha = 20, 0.05
    hits = np.arange(21)
    decision = decide(hits, np.zeros(21, dtype=int), rounds, alpha)
    for hit, verdict in zip(hits, decision, strict=True):
        above = binomtest(int(hit), rounds, alternative="greater").pvalue < alpha / 21
        below = binomtest(int(hit), rounds, alternative="less").pvalue < alpha / 21
        assert verdict == int(above) - int(below)
    assert {-1, 0, 1} == set(decision)
    earlier = np.where(hits == 10, -1, 0)
    assert decide(hits, earlier, rounds, alpha)[10] == -1, "what was decided stays"


def test_boruta_keeps_what_is_planted_and_its_twin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    X[:, 5] = X[:, 3] + 0.1 * rng.normal(size=120)
    X[:, 11] = 4.0
    y = X[:, 3] + X[:, 8] > 0
    model = Boruta(n_estimators=20, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 5, 8]
    assert (model.decision_[[3, 5, 8]] == 1).all() and model.hits_[11] == 0
    assert (model.feature_importances_ <= 1).all() and (model.feature_importances_ >= -1).all()
    again = Boruta(n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.feature_importances_, again.feature_importances_)


def test_boruta_finds_nothing_in_noise():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 20)), rng.integers(0, 2, 80)
    assert Boruta(n_estimators=20, max_iter=30, random_state=0).fit(X, y).get_support().sum() <= 2


@pytest.mark.parametrize("parameters", [{"max_iter": 0}, {"alpha": 0.0}])
def test_boruta_parameters_have_a_range(parameters):
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        Boruta(**parameters).fit([[0.0], [1.0]], [0, 1])


def leaf():
    return {"nodeid": 9, "leaf": 0.1}


def split(feature, gain, *children):
    return {"split": f"f{feature}", "gain": gain, "children": list(children or (leaf(), leaf()))}


def test_pair_gains_by_hand():
    trees = [
        # f2 opens the way for f0, not for f1; f1 after f1 is not a pair.
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
