"""Problems of evidence maximisation."""

import numpy as np
import pytest
from sklearn.preprocessing import scale

from mfbench_relevance import feature_kernel
from mfbench_relevance._evidence.posterior import GramProblem, RowProblem


@pytest.fixture(scope="session")
def linear_problem():
    """Return a function that makes rows, a response, and the problem of their linear kernel."""
    return _linear_problem


@pytest.fixture(scope="session")
def information_problem(make_regression):
    """Return a function that makes a problem with a mutual-information kernel."""

    def make(seed):
        return _information_problem(make_regression, seed)

    return make


@pytest.fixture(scope="session")
def row_problem(make_wide):
    """Return a function that makes a problem of more features than rows."""

    def make(seed, n=40, m=100, spread=1.0, design="independent"):
        X, y = make_wide(seed, n, m, spread, design)
        Z, t = scale(X), scale(y)
        return RowProblem(Z.T @ t, float(t @ t), float(n), float(t @ t) / 100, True, Z, t)

    return make


def _linear_problem(seed, n=60, m=10, strong=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    y = X[:, :strong] @ [2.0, -1.5, 1.0][:strong] + rng.normal(size=n)
    X, y = scale(X), scale(y)
    return X, y, GramProblem(X.T @ y, float(y @ y), float(n), float(y @ y) / 100, True, X.T @ X)


def _information_problem(make_regression, seed, bins=8, n=300, m=12):
    X, y = make_regression(seed, n, m)
    kernel = feature_kernel(X, y, bins=bins, target_bins=4)
    assert np.linalg.eigvalsh(kernel.matrix)[0] > 0
    kyy = float(kernel.target[0])
    return GramProblem(kernel.cross[0], kyy, float(n), kyy / 100, True, kernel.features)
