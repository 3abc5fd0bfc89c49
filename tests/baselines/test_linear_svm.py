import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import LinearSVC

from mfbench_baselines.classifiers import LinearSVM


def test_it_is_the_machine_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_array_equal(LinearSVM(dual=False).fit(X, y).coef_, LinearSVC(dual=False).fit(X, y).coef_)


@pytest.mark.parametrize("dual", [False, True])
def test_values_whose_squares_overflow_are_an_error(dual):
    X = np.random.default_rng(0).normal(size=(20, 3)) * 1e150
    with pytest.raises(ValueError, match="scale the features first"):
        LinearSVM(dual=dual).fit(X, np.arange(20) % 2)


def test_the_largest_values_that_are_accepted_do_not_hang():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X *= 1e75 / np.abs(X).max()
    assert np.isfinite(LinearSVM(dual=False, max_iter=100).fit(X, np.arange(20) % 2).coef_).all()
