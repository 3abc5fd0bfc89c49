"""The solver of FVM and P-SVM: bound, grid of penalties, and when it needs the null."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_relevance import FVM, PSVM, FeatureKernel
from mfbench_relevance._box.solver import BoxSolver, largest_weight


@pytest.fixture
def kernel():
    return FeatureKernel(np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 4.0]]), 2, 10)


def solver(**parameters):
    defaults = {"tuning": "refit", "one_standard_error": False, "n_folds": 3, "n_penalties": 5}
    return BoxSolver(**{"epsilon": None, "bound": None, "max_iter": 100, "tol": 1e-8, **defaults, **parameters})


def test_default_bound_is_a_fifth_of_the_largest_single_weight(kernel):
    assert largest_weight(kernel) == pytest.approx(0.2 * 1.0 / 2.0)
    assert largest_weight(FeatureKernel(np.zeros((3, 3)), 2, 10)) == np.inf


@pytest.mark.parametrize(
    ("epsilon", "tuning", "expected"), [(None, "null", True), (0.1, "null", False), (None, "refit", False)]
)
def test_null_is_needed_only_to_tune(epsilon, tuning, expected):
    assert solver(epsilon=epsilon, tuning=tuning).uses_null is expected


@pytest.mark.parametrize("estimator", [FVM, PSVM])
def test_grid_starts_where_nothing_is_selected(make_regression, estimator):
    X, y = make_regression(0)
    fitted = estimator(n_folds=2, n_penalties=5, random_state=0).fit(X, y)
    assert_allclose(fitted.penalties_[0], 2 * np.abs(fitted.relevance_).max())
    assert_allclose(np.diff(np.log(fitted.penalties_)), np.log(fitted.penalties_[1] / fitted.penalties_[0]))
    assert fitted.penalties_[-1] == pytest.approx(0.004)
