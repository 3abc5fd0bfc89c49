"""The lasso and the elastic net as selectors: scikit-learn's path for numbers, planted columns for classes."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNetCV, LassoCV
from sklearn.model_selection import KFold

from mfbench_baselines.lasso import LassoSelector


def rows(n=150, p=8):
    X = np.random.default_rng(0).normal(size=(n, p))
    return X, 3 * X[:, 1] - 2 * X[:, 5] + np.random.default_rng(1).normal(size=n)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_numeric_target_matches_scikit_learn(l1_ratio):
    X, y = rows()
    fitted = LassoSelector(cv=5, l1_ratio=l1_ratio, random_state=3).fit(X, y)
    seed = int(np.random.RandomState(3).randint(2**31))
    peer = LassoCV() if l1_ratio == 1 else ElasticNetCV(l1_ratio=l1_ratio)
    own = peer.set_params(cv=KFold(5, shuffle=True, random_state=seed)).fit(X, y)
    np.testing.assert_allclose(fitted.feature_importances_, np.abs(own.coef_), rtol=1e-12)


@pytest.mark.parametrize(("classes", "l1_ratio"), [(2, 1.0), (3, 1.0), (3, 0.5)])
def test_relevant_columns_are_selected_for_classes(classes, l1_ratio):
    X, y = rows()
    codes = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    weights = LassoSelector(cv=3, l1_ratio=l1_ratio, random_state=0).fit(X, codes).feature_importances_
    assert sorted(np.argsort(weights)[-2:]) == [1, 5]


def test_noise_selects_next_to_nothing():
    X = np.random.default_rng(2).normal(size=(100, 20))
    found = LassoSelector(cv=5, random_state=0).fit(X, np.arange(100) % 2).get_support().sum()
    assert found <= 5


def test_class_of_one_sample_raises():
    with pytest.raises(ValueError, match="at least two samples of each class"):
        LassoSelector().fit(np.eye(5), [0, 0, 0, 0, 1])


@pytest.mark.parametrize("of_numbers", [True, False])
def test_identical_columns_share_their_weight_in_the_elastic_net(of_numbers):
    X, y = rows()
    X[:, 2] = X[:, 1]
    weights = LassoSelector(cv=3, l1_ratio=0.5, random_state=0).fit(X, y if of_numbers else (y > 0).astype(int))
    np.testing.assert_allclose(*weights.feature_importances_[1:3], rtol=0.1)  # scikit-learn's solver stops early
    assert weights.feature_importances_[1] > 0


@pytest.mark.parametrize("l1_ratio", [0, 1.5, np.nan])
def test_a_share_out_of_range_is_refused(l1_ratio):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        LassoSelector(l1_ratio=l1_ratio).fit(*rows())
