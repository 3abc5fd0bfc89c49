"""SODA's search step by step: each move against a comparison of all candidates."""

import numpy as np
import pytest

from mfbench_baselines._multinomial import maximise
from mfbench_baselines._soda_search import Search, values

COST = 6.0


@pytest.fixture(scope="module")
def search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 1] + 2 * X[:, 0] * X[:, 3] + 0.5 * rng.logistic(size=200) > 0
    search = Search(X, np.column_stack([~y, y]).astype(float), COST, n_refits=4)
    search.run()
    return search


def deviance(search, terms):
    design = np.column_stack([np.ones(len(search.X)), *(values(search.X, term) for term in terms)])
    return maximise(design, search.codes, np.zeros((design.shape[1], 1))).deviance


def test_columns_of_terms():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert values(X, (1,)).tolist() == [2, 4]
    assert values(X, (0, 1)).tolist() == [2, 12]
    assert values(X, (0, 0)).tolist() == [1, 9]


def test_first_move_is_the_best_single_feature(search):
    scores = [deviance(search, [(j,)]) + 2 * COST for j in range(4)]
    stage, term, score = search.path[0]
    assert (stage, term) == ("main", (int(np.argmin(scores)),))
    assert score == pytest.approx(min(scores), rel=1e-6)


def test_stages_come_in_order_and_planted_terms_remain(search):
    stages = [stage for stage, _, _ in search.path]
    assert stages == sorted(stages, key=["main", "interaction", "backward"].index)
    assert {(1,), (0, 3)} <= set(search.terms)


def test_no_single_removal_lowers_the_final_criterion(search):
    assert search.criterion == pytest.approx(deviance(search, search.terms) + COST * (1 + len(search.terms)), rel=1e-6)
    for term, fit in zip(search.terms, search.without(search.terms), strict=True):
        rest = [other for other in search.terms if other != term]
        assert fit.deviance == pytest.approx(deviance(search, rest), rel=1e-6)
        assert fit.deviance + COST * (1 + len(rest)) > search.criterion


@pytest.mark.parametrize("n_classes", [2, 3])
def test_screening_in_blocks_finds_the_path_of_newtons_steps_one_by_one(n_classes, monkeypatch):
    """The search that fits every candidate, and one with blocks of a few features that fits ten."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 60))
    X[:, 7] = X[:, 3]  # a tie goes to the first
    codes = (X[:, 3] + 1.5 * X[:, 10] * X[:, 20] + 0.5 * rng.logistic(size=150) > 0).astype(int)
    codes[rng.random(150) < 0.2] = n_classes - 1
    members = np.eye(n_classes)[codes]
    every = Search(X, members, COST, n_refits=60)
    monkeypatch.setattr("mfbench_baselines._soda_search.BLOCK_BYTES", 8 * 150 * 7)
    few = Search(X, members, COST, n_refits=10)
    for search in (every, few):
        search.run()
    assert [move[:2] for move in few.path] == [move[:2] for move in every.path]
    assert few.terms == every.terms
    assert (7,) not in few.terms
