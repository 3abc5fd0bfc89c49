"""Plain ranking by the kernel with the response."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from mfbench_learners.discretise import bin_codes
from mfbench_relevance import KernelRanking


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


def test_ranking_is_the_mutual_information_above_the_quantile_of_permutations(data):
    X, y = data
    fitted = KernelRanking("paper", random_state=3).fit(X, y)
    codes, target = bin_codes(X, 4, "width"), bin_codes(y[:, None], 4, "width")[:, 0]
    alone = np.array([mutual_info_score(column, target) for column in codes.T]) / np.log(2)
    random = np.random.RandomState(3)
    orders = [random.permutation(len(y)) for _ in range(20)]
    null = np.array([[mutual_info_score(column, target[order]) for column in codes.T] for order in orders]) / np.log(2)
    assert_allclose(fitted.relevance_, alone - null.mean(), atol=1e-12)
    assert fitted.threshold_ == pytest.approx(np.quantile(null, 0.99) - null.mean(), abs=1e-12)
    assert_array_equal(fitted.support_, alone > np.quantile(null, 0.99))
    assert_allclose(fitted.feature_importances_, alone - np.quantile(null, 0.99), atol=1e-12)


@pytest.mark.parametrize("kernel", ["mutual-information", "linear"])
def test_ranking_keeps_the_expected_share_of_noise(kernel):
    rng = np.random.default_rng(2)
    shares = []
    for seed in range(10):
        X, y = rng.uniform(size=(400, 60)), rng.normal(size=400)
        X[:, :20] = 1.0  # constant columns are not counted among the null
        found = KernelRanking(kernel=kernel, quantile=0.9, random_state=seed).fit(X, y).support_
        assert not found[:20].any()
        shares.append(found[20:].mean())
    assert 0.06 < np.mean(shares) < 0.15


def test_ranking_sees_negative_dependence_of_a_numeric_kernel(data):
    X, y = data
    fitted = KernelRanking(kernel="linear", random_state=0).fit(X, y)
    assert fitted.relevance_[3] < 0
    assert fitted.support_[3]


def test_ranking_keeps_both_of_a_pair_of_duplicates(data):
    X, y = data
    fitted = KernelRanking(random_state=0).fit(np.column_stack([X, X[:, 2]]), y)
    assert fitted.weights_[2] == fitted.weights_[-1] > 0
