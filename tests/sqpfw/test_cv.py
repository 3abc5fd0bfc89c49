"""Selection by cross-validation along the path."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state

from mfbench_sqpfw import SQPFeatureWeightingCV, SQPFeatureWeightingPath


def test_selection_along_the_path(noisy):
    X, y = noisy
    fitted = SQPFeatureWeightingCV(n_thetas=8, cv=3, neighbourhoods=((1, 1), (2, 2)), random_state=0).fit(X, y)
    assert fitted.cv_errors_.shape == (2, 3, 8)
    best = np.argwhere(fitted.cv_errors_ == fitted.cv_errors_.min())
    assert fitted.theta_ == fitted.thetas_[best[:, 2].max()]
    again = SQPFeatureWeightingPath(fitted.kappa_, fitted.lam_, fitted.theta_).fit(X, y)
    assert_allclose(again.weights_, fitted.weights_)
    # One entry recomputed by hand: a path and a classifier for each fold.
    folds = StratifiedKFold(3, shuffle=True, random_state=check_random_state(0).randint(2**31 - 1)).split(X, y)
    wrong = 0
    for train, test in folds:
        w = SQPFeatureWeightingPath(2, 2, 1.0).fit(X[train], y[train]).weights_at(fitted.thetas_[5])
        knn = KNeighborsClassifier(3).fit(X[train] * np.sqrt(w), y[train])
        wrong += (knn.predict(X[test] * np.sqrt(w)) != y[test]).sum()
    assert fitted.cv_errors_[1, 1, 5] == pytest.approx(wrong / 80)


def test_one_standard_error_selects_the_largest_theta_within_it(noisy):
    X, y = noisy
    settings = {"theta_max": 30.0, "n_thetas": 12, "cv": 4, "n_neighbors": (1, 3), "random_state": 0}
    settings["neighbourhoods"] = ((1, 1), (2, 2))
    least = SQPFeatureWeightingCV(**settings).fit(X, y)
    fitted = SQPFeatureWeightingCV(**settings, rule="one-standard-error").fit(X, y)
    errors = least.cv_errors_
    assert np.array_equal(fitted.cv_errors_, errors) and fitted.theta_ > least.theta_
    # The rates of the folds at the minimum, by hand.
    pair, k, at = np.unravel_index(errors.argmin(), errors.shape)
    folds = StratifiedKFold(4, shuffle=True, random_state=check_random_state(0).randint(2**31 - 1)).split(X, y)
    rates = []
    for train, test in folds:
        kappa, lam = settings["neighbourhoods"][pair]
        w = SQPFeatureWeightingPath(kappa, lam, 30.0).fit(X[train], y[train]).weights_at(least.thetas_[at])
        knn = KNeighborsClassifier(settings["n_neighbors"][k]).fit(X[train] * np.sqrt(w), y[train])
        rates.append(np.mean(knn.predict(X[test] * np.sqrt(w)) != y[test]))
    within = errors <= errors.min() + np.std(rates, ddof=1) / 2
    assert fitted.theta_ == least.thetas_[within.any(axis=(0, 1))].max()
    here = errors[:, :, list(least.thetas_).index(fitted.theta_)]
    assert here[[(1, 1), (2, 2)].index((fitted.kappa_, fitted.lam_)), (1, 3).index(fitted.n_neighbors_)] == here.min()


def test_impossible_candidates_are_skipped(noisy):
    X, y = noisy
    fitted = SQPFeatureWeightingCV(n_thetas=3, cv=2, neighbourhoods=((1, 1), (60, 1))).fit(X, y)
    assert np.isnan(fitted.cv_errors_[1]).all()
    with pytest.raises(ValueError, match="no sample has 60 others"):
        SQPFeatureWeightingCV(n_thetas=3, cv=2, neighbourhoods=((60, 1),)).fit(X, y)
    with pytest.raises(ValueError, match="theta_min"):
        SQPFeatureWeightingCV(theta_min=2.0).fit(X, y)


@in_turn(
    "parameters, message",
    [
        ({"neighbourhoods": value}, "neighbourhoods must hold one or more pairs of whole numbers")
        for value in ([], [(1,)], [1, 2], [(0, 1)], [(1, -1)], [(1.5, 1)], [("a", 1)], [(1, 1), (1,)])
    ]
    + [
        ({"n_neighbors": value}, "n_neighbors must hold one or more whole numbers")
        for value in ([], [0], [-1], [1.5], [[1, 3]])
    ]
    + [({"cv": folds}, "cv must make one or more folds") for folds in ([], [(range(40), [])], [([], range(40))])],
)
def test_invalid_candidates(noisy, parameters, message):
    with pytest.raises(ValueError, match=message):
        SQPFeatureWeightingCV(n_thetas=2, **parameters).fit(*noisy)
