"""One ranking from many: definitions, and Kemeny's ranking by trying all."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from mfbench_baselines.aggregation import RankEnsemble, aggregated, kemeny


def disagreements(order, ranks):
    """Return the number of pairs and rankings that order the pair the other way."""
    signs = np.sign(ranks[:, :, None] - ranks[:, None, :])
    own = np.sign(order[:, None] - order[None, :])
    return int((signs * own < 0).sum() // 2)


@pytest.mark.parametrize("p", [1, 2, 3, 6])
def test_kemeny_is_the_best_of_all_orders(p):
    rng = np.random.default_rng(p)
    for m in (1, 3, 4, 7):
        ranks = np.array([rankdata(rng.integers(0, p + 1, p)) for _ in range(m)])
        found = kemeny(ranks)
        assert sorted(found) == list(range(1, p + 1))
        best = min(disagreements(np.array(order), ranks) for order in permutations(range(1, p + 1)))
        assert disagreements(found, ranks) == best


def test_kemeny_keeps_the_winner_of_every_duel():
    ranks = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 2, 3], [1, 4, 3, 2]], dtype=float)
    # The first wins three duels of five against each, yet has the worst mean but one.
    assert kemeny(ranks)[0] == 1 and np.argmin(ranks.mean(axis=0)) == 1
    assert aggregated(ranks, "median").tolist() == [1.0, 2.0, 3.0, 3.0]


def test_thirty_features_are_ordered_in_a_moment():
    rng = np.random.default_rng(0)
    ranks = np.array([rankdata(np.arange(30) + 2 * rng.normal(size=30)) for _ in range(5)])
    found = kemeny(ranks)
    assert disagreements(found, ranks) <= disagreements(rankdata(ranks.mean(axis=0), method="ordinal"), ranks)


def test_ranks_are_those_of_the_selectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5))
    y = X[:, 3] - 0.5 * X[:, 1] + 0.1 * rng.normal(size=50)
    ensemble = RankEnsemble(selectors=[Ridge(), DecisionTreeRegressor()], n_samples=1, random_state=0).fit(X, y)
    assert ensemble.ranks_[0].tolist() == rankdata(-np.abs(Ridge().fit(X, y).coef_)).tolist()
    assert ensemble.feature_importances_ == pytest.approx(3 - ensemble.ranks_.mean(axis=0))
    assert RankEnsemble(selectors=[Ridge()], n_samples=4, random_state=0).fit(X, y).ranks_.shape == (4, 5)


@pytest.mark.parametrize("aggregation", ["mean", "median", "kemeny"])
def test_classes_numbers_constants_and_wide_tables(aggregation):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(40, 8)), np.ones(40)])
    for y in (rng.normal(size=40), np.repeat([0, 1, 2], [20, 19, 1]) + 0 * X[:, 0]):
        X[:, 5] += 3 * y
        weights = RankEnsemble(aggregation=aggregation, n_samples=2, random_state=0).fit(X, y).feature_importances_
        assert np.argmax(weights) == 5 and np.argmin(weights) == 8
    assert RankEnsemble(aggregation=aggregation, random_state=0).fit(X[:, :1], y).feature_importances_ == [0.0]


def test_what_cannot_be_done_is_said():
    X, y = np.random.default_rng(0).normal(size=(20, 31)), np.arange(20) % 2
    with pytest.raises(ValueError, match="at most 30 features; X has 31"):
        RankEnsemble(aggregation="kemeny").fit(X, y)
    with pytest.raises(ValueError, match="at least one selector"):
        RankEnsemble(selectors=[]).fit(X, y)
