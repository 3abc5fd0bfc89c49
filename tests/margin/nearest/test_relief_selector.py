import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mfbench_margin import Relief, ReliefF

EXACT = {"rtol": 0, "atol": 1e-10}


@pytest.mark.parametrize(
    "estimator", [Relief(), Relief(diff="sq", metric="manhattan", miss="prior"), ReliefF(3)], ids=str
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_draw_after_the_other_equals_all_at_once(make_table, estimator, n_classes):
    X, y, _ = make_table(7, 20, 4, 1, n_classes=n_classes)
    X, y = np.vstack([X, X.mean(axis=0)]), np.append(y, 9)  # alone in its class: never drawn
    updates, seed = {}, 0
    while len(updates) < 20:
        online = clone(estimator).set_params(n_samples=1, random_state=seed).fit(X, y)
        updates[int(online.sample_indices_[0])] = online.feature_importances_
        seed += 1
    assert sorted(updates) == list(range(20))
    assert_allclose(estimator.fit(X, y).feature_importances_, np.mean(list(updates.values()), axis=0), **EXACT)
    many = clone(estimator).set_params(n_samples=50, random_state=1).fit(X, y)
    updates_drawn = [updates[i] for i in many.sample_indices_]
    assert_allclose(many.feature_importances_, np.mean(updates_drawn, axis=0), **EXACT)


def test_no_positive_weight():
    fitted = Relief().fit([[0.0, 1], [0, 1], [0, 1], [0, 1]], [0, 1, 0, 1])
    assert fitted.degenerate_
    assert fitted.weights_.tolist() == [0, 0]
    assert_allclose(fitted.weights_unit_, [0.5**0.5] * 2)
    assert not fitted.get_support().any()


def test_support_is_where_the_weight_is_positive(make_table):
    X, y, _ = make_table(2, 50, 6, 2)
    fitted = Relief().fit(X, y)
    assert_array_equal(fitted.get_support(), fitted.feature_importances_ > 0)
    assert_array_equal(fitted.weights_, np.clip(fitted.feature_importances_, 0, None))
    assert_array_equal(fitted.transform(X), X[:, fitted.feature_importances_ > 0])
    assert not fitted.degenerate_
