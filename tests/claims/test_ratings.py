"""Ratings: the Bradley–Terry model against choix, ties, missing scores, and the level of shared ranks."""

import choix
import numpy as np
import pandas as pd
import pytest

from mfbench_claims.ratings import CENTRE, SCALE, ratings, strengths, wins_of


def random_wins(seed, n_methods=6, n_datasets=40):
    scores = np.random.default_rng(seed).normal(size=(n_datasets, n_methods)) + np.linspace(0, 1, n_methods)
    return wins_of(scores, margin=0.0)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_are_those_of_choix(seed):
    wins = random_wins(seed).sum(axis=0)
    pairs = [(i, j) for i, j in np.argwhere(wins) for _ in range(int(wins[i, j]))]
    theirs = choix.opt_pairwise(len(wins), pairs, alpha=0.05, tol=1e-12)
    assert strengths(wins, 0.05) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_many_sets_of_wins_at_once():
    wins = np.stack([random_wins(seed).sum(axis=0) for seed in range(3)])
    assert strengths(wins) == pytest.approx(np.stack([strengths(each) for each in wins]), abs=1e-9)


def test_a_tie_is_half_a_win_of_each_and_a_missing_score_no_comparison():
    wins = wins_of(np.array([[0.80, 0.805, np.nan], [0.9, 0.8, 0.7]]), margin=0.01)
    assert wins[0].tolist() == [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]
    assert wins[1].tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    once, twice = np.array([[0, 1], [1, 0]]), np.array([[0, 2], [0, 0]])
    assert strengths(once * 1.0) == pytest.approx([0, 0]) and strengths(twice * 1.0)[0] > 0.5


def test_a_method_that_always_wins_is_first_alone_and_finite():
    table = pd.DataFrame({"B": [0.5] * 8, "A": [0.9] * 8, "C": [0.5] * 8})
    frame = ratings(table, 0.01)
    assert list(frame.index) == ["A", "B", "C"] and frame["rank"].tolist() == [1, 2, 2]
    assert np.isfinite(frame["rating"]).all() and frame["rating"].mean() == pytest.approx(CENTRE)
    backwards = ratings(table, 0.01, greater_is_better=False)
    assert backwards.index[-1] == "A" and backwards.loc["B", "rating"] == pytest.approx(backwards.loc["C", "rating"])
    # Four hundred points are odds of ten to one.
    assert SCALE * np.log(10) == pytest.approx(400)


def test_a_method_that_lacks_a_dataset_is_rated_last_and_without_a_rank():
    table = pd.DataFrame({"A": [0.9] * 8, "B": [0.5] * 8, "C": [0.99] * 7 + [np.nan]})
    frame = ratings(table, 0.01)
    assert list(frame.index) == ["A", "B", "C"] and frame["rank"].tolist() == [1, 2, 0]
    assert frame["rating"].idxmax() == "C"


def test_on_few_datasets_all_methods_share_a_rank():
    frame = ratings(pd.DataFrame({"A": [0.9] * 5, "B": [0.5] * 5}), 0.01)
    assert frame["rank"].tolist() == [1, 1] and frame["low"].isna().all()


@pytest.mark.slow(reason="rates methods on hundreds of simulated tables")
@pytest.mark.parametrize("n_datasets", [6, 13, 31])
def test_equal_methods_are_hardly_ever_separated_and_better_ones_are(n_datasets):
    random = np.random.default_rng(n_datasets)
    pairs = separated = detected = 0
    for _ in range(80):
        scores = random.normal(0.8, 0.1, (n_datasets, 1)) + random.normal(0, 0.03, (n_datasets, 8))
        ranks = ratings(pd.DataFrame(scores), 0.01)["rank"]
        separated += int((ranks - 1).sum())
        pairs += 28
        better = scores + np.r_[0.05, np.zeros(7)]
        detected += int((ratings(pd.DataFrame(better), 0.01).loc[range(1, 8), "rank"] > 1).sum())
    assert separated / pairs < 0.065
    assert detected / (80 * 7) > {6: 0.3, 13: 0.8, 31: 0.99}[n_datasets]
