"""FVM: the lasso as a special case, and the ways to tune the penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso
from sklearn.preprocessing import scale

from mfbench_relevance import FVM, PSVM


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


def test_linear_fvm_is_the_lasso_and_psvm_without_bound_is_fvm(data):
    X, y = data
    fvm = FVM(kernel="linear", penalty=60.0).fit(X, y)
    lasso = Lasso(alpha=60.0 / (2 * len(X)), fit_intercept=False, tol=1e-14, max_iter=100_000).fit(scale(X), scale(y))
    assert_allclose(fvm.weights_, lasso.coef_, atol=1e-9)
    assert_allclose(PSVM(kernel="linear", epsilon=30.0, C=np.inf).fit(X, y).weights_, fvm.weights_, atol=1e-12)
    assert fvm.optimality_gap_ < 1e-8


def test_constant_features_do_not_lower_the_null_level(data):
    X, y = data
    alone = FVM(tuning="null", random_state=0).fit(X, y)
    padded = FVM(tuning="null", random_state=0).fit(np.column_stack([X, np.ones((len(X), 30))]), y)
    assert padded.penalty_ == pytest.approx(alone.penalty_, rel=1e-12)


def test_kernel_loss_selects_nearly_everything(data):
    X, y = data
    fitted = FVM("paper", tuning="kernel", random_state=0).fit(X, y)
    assert fitted.support_.mean() > 0.9
    assert fitted.cv_loss_.shape == (10, 25)
    assert fitted.penalty_ in fitted.penalties_
