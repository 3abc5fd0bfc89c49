"""P-SVM: the bound on the weights."""

import pytest

from mfbench_relevance import PSVM


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


def test_bound_holds(data):
    fitted = PSVM(epsilon=0.01, C=0.004, random_state=0).fit(*data)
    assert fitted.feature_importances_.max() == 0.004
    assert fitted.optimality_gap_ < 1e-8
