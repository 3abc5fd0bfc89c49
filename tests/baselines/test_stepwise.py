"""Elimination, forward selection and mRMR against scikit-learn and against plain loops."""

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.datasets import load_wine
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mfbench_baselines.stepwise import MRMR, RecursiveElimination, SequentialForward, information, three_levels


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_elimination_one_by_one_matches_scikit_learn(wine):
    ours = RecursiveElimination(step=0.0).fit(*wine)
    theirs = RFE(LinearSVC(C=1.0, dual=False, max_iter=100_000), n_features_to_select=1, step=1).fit(*wine)
    np.testing.assert_allclose(ours.feature_importances_, (14 - theirs.ranking_) / 13)
    assert ours.n_iter_ == 12


def test_elimination_drops_a_share_of_the_remaining_features():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 100))
    X[:, [3, 50]] += 1.5 * y[:, None]
    model = RecursiveElimination(step=0.5).fit(X, y)
    assert model.n_iter_ == 7, "100, 50, 25, 13, 7, 4, 2 features"
    assert set(np.argsort(-model.feature_importances_)[:2]) == {3, 50}
    assert np.unique(model.feature_importances_).tolist() == [(j + 1) / 100 for j in range(100)]


def test_forward_selection_matches_scikit_learn(wine):
    X, y = wine
    ours = SequentialForward(n_ranked=2, cv=3, random_state=0).fit(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    theirs = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=2, cv=folds).fit(X, y)
    assert set(ours.order_) == set(theirs.get_support(indices=True))
    assert (np.diff(ours.scores_) > 0).all()
    np.testing.assert_allclose(ours.feature_importances_[ours.order_], [1, 1 / 2])


def test_forward_selection_stops_when_nothing_helps():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60), y + 0.01 * rng.normal(size=60), rng.normal(size=(60, 4))])
    model = SequentialForward(random_state=0).fit(X, y)
    assert model.order_.tolist() == [1] and model.scores_.tolist() == [1.0]
    alone = SequentialForward(cv=3, random_state=0).fit(X[:9], ["a"] * 4 + ["b"] * 4 + ["c"])
    assert len(alone.order_) >= 1


def naive_mrmr(levels, y, count, scheme):
    taken = []
    while len(taken) < count:
        scores = {}
        for j in set(range(levels.shape[1])) - set(taken):
            relevance = mutual_info_score(y, levels[:, j])
            redundancy = np.mean([mutual_info_score(levels[:, j], levels[:, k]) for k in taken]) if taken else 0.0
            if scheme == "difference" or not taken:
                scores[j] = round(relevance - redundancy, 12)
            else:
                scores[j] = round(relevance / redundancy, 12)
        taken.append(max(sorted(scores), key=scores.get))
    return taken


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_mrmr_matches_a_greedy_loop(wine, scheme):
    X, y = wine
    model = MRMR(n_ranked=6, scheme=scheme).fit(X, y)
    assert model.order_.tolist() == naive_mrmr(three_levels(X, 0.5), y, 6, scheme)


def test_information_matches_scikit_learn(wine):
    X, y = wine
    levels = three_levels(X, 0.5)
    expected = [mutual_info_score(y, column) for column in levels.T]
    np.testing.assert_allclose(information(levels, y), expected, atol=1e-12)


def test_three_levels_by_hand():
    X = np.array([[-3.0, 7.0, 1.0], [-1.0, 7.0, 5.0], [0.0, 7.0, 9.0], [1.0, 7.0, 9.0], [3.0, 7.0, 9.0]])
    # The first column has mean 0 and standard deviation 2; the others have one and three values.
    assert three_levels(X, 0.25).T.tolist() == [[0, 0, 1, 2, 2], [0, 0, 0, 0, 0], [0, 1, 2, 2, 2]]


def test_mrmr_ranks_copies_low_and_skips_constants(wine):
    X, y = wine
    X = np.column_stack([X, X[:, 6], np.full(len(X), 3.0)])
    model = MRMR(n_ranked=20).fit(X, y)
    assert model.order_[0] == 6
    assert 14 not in model.order_ and len(model.order_) == 14
    assert model.order_.tolist().index(13) > 3


@in_turn(
    "selector, message",
    [
        (RecursiveElimination(step=1.0), "step must be"),
        (SequentialForward(cv=1), "cv must be at least 2"),
        (SequentialForward(n_ranked=0), "n_ranked must be"),
        (MRMR(scheme="sum"), "scheme must be"),
        (MRMR(width=0.0), "width must be"),
    ],
)
def test_invalid_parameters_raise(wine, selector, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(*wine)


@pytest.mark.parametrize("selector", [RecursiveElimination(), SequentialForward(), MRMR()])
def test_one_class_and_one_feature(selector):
    X = np.arange(12.0)[:, None]
    with pytest.raises(ValueError, match="at least two classes"):
        selector.fit(X, np.zeros(12))
    assert selector.fit(X, np.arange(12) > 5).feature_importances_.tolist() == [1.0]
