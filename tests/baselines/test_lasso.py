"""The lasso as a selector: scikit-learn's path for a numeric target, planted columns for classes."""

import numpy as np
import pytest
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

from mfbench_baselines.lasso import LassoSelector


def rows(n=150, p=8):
    X = np.random.default_rng(0).normal(size=(n, p))
    return X, 3 * X[:, 1] - 2 * X[:, 5] + np.random.default_rng(1).normal(size=n)


def test_numeric_target_matches_scikit_learn():
    X, y = rows()
    fitted = LassoSelector(cv=5, random_state=3).fit(X, y)
    seed = int(np.random.RandomState(3).randint(2**31))
    own = LassoCV(cv=KFold(5, shuffle=True, random_state=seed)).fit(X, y)
    np.testing.assert_allclose(fitted.feature_importances_, np.abs(own.coef_), rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_relevant_columns_are_selected_for_classes(classes):
    X, y = rows()
    codes = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    weights = LassoSelector(cv=3, random_state=0).fit(X, codes).feature_importances_
    assert sorted(np.argsort(weights)[-2:]) == [1, 5]


def test_noise_selects_next_to_nothing():
    X = np.random.default_rng(2).normal(size=(100, 20))
    found = LassoSelector(cv=5, random_state=0).fit(X, np.arange(100) % 2).get_support().sum()
    assert found <= 5


def test_class_of_one_sample_raises():
    with pytest.raises(ValueError, match="at least two samples of each class"):
        LassoSelector().fit(np.eye(5), [0, 0, 0, 0, 1])
