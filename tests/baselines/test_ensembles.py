"""Ensembles as selectors: the importances of the underlying model, and planted features."""

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from xgboost import XGBClassifier, XGBRegressor

from mfbench_baselines.boruta import Boruta
from mfbench_baselines.ensembles import RandomForestSelector, XGBoostSelector
from mfbench_baselines.filters import MutualInfoFilter

SELECTORS = [RandomForestSelector(n_estimators=10, random_state=0), XGBoostSelector(n_estimators=5, random_state=0)]


def curve(n=300, p=6):
    X = np.random.default_rng(0).random((n, p))
    return X, np.sin(3 * X[:, 2]) + X[:, 4] ** 2


@in_turn("selector", [*SELECTORS, MutualInfoFilter(random_state=0)])
@in_turn("numbers", [True, False])
def test_relevant_features_rank_first(selector, numbers):
    X, y = curve()
    weights = selector.fit(X, y if numbers else y > np.median(y)).feature_importances_
    assert sorted(np.argsort(weights)[-2:]) == [2, 4]


@in_turn(
    "selector",
    [RandomForestSelector(n_estimators=10, random_state=0), Boruta(max_iter=8, tentative="include", random_state=0)],
)
def test_tiny_units_change_nothing(selector):
    """The trees do not see differences of 1e-7; powers of two round nothing."""
    X, y = curve()
    weights = selector.fit(X, y > 1).feature_importances_
    assert len(np.unique(weights)) > 2
    for units in (2.0**-27, 2.0 ** -np.arange(20, 26.0)):
        np.testing.assert_array_equal(selector.fit(X * units, y > 1).feature_importances_, weights)


def test_importances_are_those_of_the_model():
    X, y = curve()
    forest = RandomForestSelector(n_estimators=7, random_state=3)
    own = RandomForestRegressor(n_estimators=7, max_features="sqrt", random_state=3).fit(X, y)
    np.testing.assert_array_equal(forest.fit(X, y).feature_importances_, own.feature_importances_)
    own = RandomForestClassifier(n_estimators=7, random_state=3).fit(X, y > 1)
    np.testing.assert_array_equal(forest.fit(X, y > 1).feature_importances_, own.feature_importances_)
    trees = XGBoostSelector(n_estimators=4)
    own = XGBRegressor(n_estimators=4, max_depth=3, learning_rate=0.3).fit(X, y)
    np.testing.assert_allclose(trees.fit(X, y).feature_importances_, own.feature_importances_, rtol=1e-6)
    own = XGBClassifier(n_estimators=4, max_depth=3, learning_rate=0.3).fit(X, y > 1)
    np.testing.assert_allclose(trees.fit(X, y > 1).feature_importances_, own.feature_importances_, rtol=1e-6)


def test_columns_without_splits_get_zero():
    X, y = curve()
    assert (XGBoostSelector(n_estimators=1, max_depth=1).fit(X, y).feature_importances_ > 0).sum() == 1


@in_turn("selector", SELECTORS)
def test_one_class_raises(selector):
    with pytest.raises(ValueError, match="at least two classes"):
        selector.fit(np.eye(4), np.zeros(4, int))


@in_turn("selector", SELECTORS)
def test_constant_columns_get_zero(selector):
    weights = selector.fit(np.ones((8, 2)), [0, 1] * 4).feature_importances_
    assert weights.tolist() == [0, 0]


def test_whole_numbers_are_classes():
    X, _ = curve(60)
    fitted = RandomForestSelector(n_estimators=3, random_state=0).fit(X, np.arange(60.0) % 3)
    assert isinstance(fitted.model_, RandomForestClassifier)
