"""The baselines for a target that is a number: each against scikit-learn or its definition."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import f_regression, mutual_info_regression
from sklearn.linear_model import ElasticNetCV, Ridge

from mfbench_baselines.boruta import Boruta
from mfbench_baselines.ensembles import RandomForestSelector, XGBoostSelector
from mfbench_baselines.filters import LARGEST, AnovaFFilter, MutualInfoFilter
from mfbench_baselines.lasso import LassoSelector
from mfbench_baselines.stepwise import MRMR, RecursiveElimination, information, three_levels

SELECTORS = [
    AnovaFFilter,
    MutualInfoFilter,
    RandomForestSelector,
    XGBoostSelector,
    LassoSelector,
    MRMR,
    RecursiveElimination,
    Boruta,
]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return X, 3.0 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=120)


def weights(selector, X, y, **parameters):
    seed = {"random_state": 0} if "random_state" in selector().get_params() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Boruta may leave features undecided
        return selector(target="numbers", **{**seed, **parameters}).fit(X, y).feature_importances_


@pytest.mark.parametrize("selector", SELECTORS)
def test_whole_numbers_are_numbers(selector, table):
    X, y = table
    assert np.argmax(weights(selector, X, np.rint(5.0 * y))) == 0


@pytest.mark.parametrize("selector", SELECTORS)
def test_equal_numbers_are_refused(selector, table):
    with pytest.raises(ValueError, match="needs at least two different numbers in y"):
        weights(selector, table[0], np.ones(120))


def test_f_and_its_p_values_are_those_of_scikit_learn(table):
    X, y = table
    expected, p_values = f_regression(X, y)
    fitted = AnovaFFilter(target="numbers").fit(1e6 * X + 1e9, -y)
    assert_allclose(fitted.feature_importances_, expected, rtol=1e-6)
    fitted = AnovaFFilter(target="numbers").fit(X, y)
    assert_allclose(fitted.feature_importances_, expected, rtol=1e-9)
    assert_allclose(fitted.p_values_, p_values, rtol=1e-9, atol=1e-300)


def test_f_of_a_constant_column_and_of_an_exact_fit(table):
    X, y = table
    X[:, 2], X[:, 3] = 7.0, y
    found = weights(AnovaFFilter, X, y)
    assert found[2] == 0.0 and 1e20 < found[3] <= LARGEST
    with pytest.raises(ValueError, match="at least three samples for numbers, got 2"):
        weights(AnovaFFilter, X[:2], y[:2])


def test_mutual_information_is_that_of_scikit_learn(table):
    X, y = table
    y = np.rint(5.0 * y)
    assert_allclose(weights(MutualInfoFilter, X, y), mutual_info_regression(X, y, random_state=0))


def test_the_forest_is_that_of_scikit_learn(table):
    X, y = table
    y = np.rint(5.0 * y)
    forest = RandomForestRegressor(20, max_features="sqrt", random_state=0).fit(X, y)
    assert_allclose(weights(RandomForestSelector, X, y, n_estimators=20), forest.feature_importances_)


def test_the_lasso_has_scikit_learns_penalty(table):
    X, y = table
    fitted = LassoSelector(target="numbers", random_state=0).fit(X, y)
    assert isinstance(fitted.model_, ElasticNetCV) and fitted.model_.l1_ratio == 1
    assert_allclose(fitted.feature_importances_, np.abs(fitted.model_.coef_))
    before = str(np.random.get_state()[1:])  # noqa: NPY002 - the state that must not change
    LassoSelector(target="numbers", random_state=0).fit(X, y)
    assert str(np.random.get_state()[1:]) == before  # noqa: NPY002


def test_elimination_drops_the_smallest_ridge_weight(table):
    X, y = table
    left, dropped = list(range(6)), []
    while len(left) > 1:
        coefficients = Ridge(alpha=0.25).fit(X[:, left], (y - y.mean()) / y.std()).coef_
        dropped.append(left.pop(int(np.argmin(coefficients**2))))
    order = np.argsort(weights(RecursiveElimination, X, y, step=0, C=2.0))
    assert order.tolist() == [*dropped, *left]


def test_the_first_feature_of_mrmr_is_the_most_relevant(table):
    X, y = table
    relevance = information(three_levels(X, 0.5), three_levels(y[:, None], 0.5)[:, 0])
    fitted = MRMR(target="numbers").fit(X, y)
    assert fitted.order_[0] == np.argmax(relevance) == 0


def test_boruta_confirms_the_relevant_features(table):
    X, y = table
    found = weights(Boruta, X, y, max_iter=30, n_estimators=40)
    assert set(np.flatnonzero(found > 0)) == {0, 1}
