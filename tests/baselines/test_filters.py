"""The filters against results by hand and by scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.preprocessing import StandardScaler

from mfbench_baselines.filters import LARGEST, AnovaFFilter, MutualInfoFilter, RandomFilter, VarianceFilter

FILTERS = [VarianceFilter(), AnovaFFilter(), MutualInfoFilter(random_state=0), RandomFilter(random_state=0)]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_variance_by_hand():
    X = np.array([[0, 4, 1, -8], [0, 4, 2, -8], [10, 4, 3, -8], [10, 4, 4, -4]], dtype=float)
    # Range-scaled: 0 0 1 1; constant; 0 1/3 2/3 1; 0 0 0 1.
    expected = [1 / 4, 0, (2 * (1 / 2) ** 2 + 2 * (1 / 6) ** 2) / 4, 1 / 4 - 1 / 16]
    fitted = VarianceFilter().fit(X)
    np.testing.assert_allclose(fitted.feature_importances_, expected, rtol=1e-14)
    assert fitted.get_support().tolist() == [True, False, True, True]


def test_variance_is_not_constant_on_standardised_data(wine):
    X, _ = wine
    raw = VarianceFilter().fit(X).feature_importances_
    np.testing.assert_allclose(VarianceFilter().fit(StandardScaler().fit_transform(X)).feature_importances_, raw)
    assert np.ptp(raw) > 0.01


def test_variance_survives_extreme_values():
    X = np.array([[-1.7e308, 5e-324], [1.7e308, 0.0]])
    np.testing.assert_array_equal(VarianceFilter().fit(X).feature_importances_, [0.25, 0.25])


def test_f_by_hand():
    # Means 1, 4 and 6 around 11/3, each class with deviations -1, 0, 1: between 38 / 2, within 6 / 6.
    X = np.array([[0, 1, 2, 3, 4, 5, 5, 6, 7]], dtype=float).T
    fitted = AnovaFFilter().fit(X, list("aaabbbccc"))
    np.testing.assert_allclose(fitted.feature_importances_, [19.0], rtol=1e-13)
    # The tail of F(2, m) is (1 + 2 F / m) ** (-m / 2).
    np.testing.assert_allclose(fitted.p_values_, [(1 + 2 * 19 / 6) ** -3.0], rtol=1e-12)


def test_f_equals_scikit_learn_where_that_is_accurate(wine):
    X, y = wine
    fitted = AnovaFFilter().fit(X, y)
    F, p = f_classif(X, y)
    np.testing.assert_allclose(fitted.feature_importances_, F, rtol=1e-9)
    np.testing.assert_allclose(fitted.p_values_, p, rtol=1e-7)


def test_f_of_constant_and_perfectly_separating_columns():
    y = np.repeat([0, 1, 2], [7, 11, 5])
    noise = np.random.default_rng(0).normal(size=23)
    levels = np.array([0.1, 0.7, 0.3])[y]
    X = np.c_[noise, np.full(23, 0.1), levels, levels + 1000, np.full(23, 1000.1), np.array([0.1, 0.1, 0.3])[y]]
    fitted = AnovaFFilter().fit(X, y)
    F = fitted.feature_importances_
    assert 0 < F[0] < 10
    assert F[1:].tolist() == [0, LARGEST, LARGEST, 0, LARGEST]
    assert fitted.p_values_[1:].tolist() == [1, 0, 0, 1, 0]
    assert fitted.get_support(indices=True).tolist() == [0, 2, 3, 5]
    with np.errstate(divide="ignore"):
        assert f_classif(X[:, :3], y)[0][2] < 0  # why the filter does not call scikit-learn's function


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), offset=st.floats(-1e6, 1e6), unit=st.floats(1e-6, 1e6))
def test_f_does_not_depend_on_unit_offset_or_order(seed, offset, unit):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + y[:, None] * [0, 0.5, 1, 5]
    F = AnovaFFilter().fit(X, y).feature_importances_
    order = rng.permutation(30)
    np.testing.assert_allclose(AnovaFFilter().fit(X[order], y[order]).feature_importances_, F, rtol=1e-10)
    np.testing.assert_allclose(AnovaFFilter().fit(unit * X, y).feature_importances_, F, rtol=1e-10)
    np.testing.assert_allclose(AnovaFFilter().fit(X + offset, y).feature_importances_, F, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("y", [[0, 0, 0], [0, 1, 2]])
def test_f_needs_classes_to_compare(y):
    with pytest.raises(ValueError, match="needs"):
        AnovaFFilter().fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("n_neighbors", [3, 7])
def test_mutual_information_matches_scikit_learn(wine, n_neighbors):
    X, y = wine
    fitted = MutualInfoFilter(n_neighbors=n_neighbors, random_state=5).fit(X, y)
    expected = mutual_info_classif(X, y, n_neighbors=n_neighbors, random_state=5)
    np.testing.assert_array_equal(fitted.feature_importances_, expected)


def test_mutual_information_of_discrete_columns_by_hand():
    y = np.array([0, 0, 1, 1])
    fitted = MutualInfoFilter(discrete_features=True).fit(np.c_[y, [0, 1, 0, 1]], y)
    np.testing.assert_allclose(fitted.feature_importances_, [np.log(2), 0], atol=1e-12)


def test_mutual_information_needs_a_class_of_two_samples():
    with pytest.raises(ValueError, match="class of at least two samples"):
        MutualInfoFilter().fit([[1.0], [2.0], [3.0]], [0, 1, 2])


def test_random_importances_depend_only_on_the_seed():
    one, same = (RandomFilter(random_state=1).fit(np.full((3, 50), x)) for x in (0.0, 1.0))
    other = RandomFilter(random_state=2).fit(np.zeros((3, 50)))
    np.testing.assert_array_equal(one.feature_importances_, same.feature_importances_)
    assert (one.feature_importances_ != other.feature_importances_).all()
    assert ((one.feature_importances_ > 0) & (one.feature_importances_ <= 1)).all()


@in_turn("selector", FILTERS)
def test_n_features_to_select(wine, selector):
    X, y = wine
    fitted = type(selector)(n_features_to_select=4).fit(X, y)
    best = np.sort(np.argsort(fitted.feature_importances_)[-4:])
    assert fitted.get_support(indices=True).tolist() == best.tolist()
    assert fitted.transform(X).shape == (len(X), 4)


def test_ties_go_to_the_first_column():
    X = np.tile([[0.0], [1.0]], 6)
    assert VarianceFilter(n_features_to_select=2).fit(X).get_support(indices=True).tolist() == [0, 1]


@in_turn("n", [0, -1, 14])
def test_invalid_n_features_to_select_raises(wine, n):
    with pytest.raises(ValueError, match="from 1 to 13"):
        VarianceFilter(n_features_to_select=n).fit(wine[0])
