"""HSIC lasso against a solver of its quadratic program, and on the examples of its paper."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

from mfbench_relevance.hsic import HSICLasso


def centred(kernel):
    H = np.eye(len(kernel)) - 1 / len(kernel)
    kernel = H @ kernel @ H
    return kernel / np.linalg.norm(kernel)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_the_path_solves_the_quadratic_program(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    score = X[:, 1] ** 2 + X[:, 4] + 0.2 * rng.normal(size=40)
    y = score if kind == "numbers" else (score > np.median(score)).astype(int)
    model = HSICLasso(n_ranked=4, block=None).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    kernels = [centred(rbf_kernel(column[:, None], gamma=0.5)) for column in Z.T]
    response = rbf_kernel(((y - y.mean()) / y.std())[:, None], gamma=0.5) if kind == "numbers" else np.equal.outer(y, y)
    response = centred(response / (1.0 if kind == "numbers" else np.bincount(y)[y]))
    G = np.array([[np.sum(a * b) for a in kernels] for b in kernels])
    c = np.array([np.sum(a * response) for a in kernels])
    # The penalty at the end of the path follows from the slope of a feature that is in it.
    j = int(np.argmax(model.coef_))
    penalty = c[j] - G[j] @ model.coef_
    assert penalty > 0
    exact = minimize(
        lambda a: 0.5 * a @ G @ a - c @ a + penalty * a.sum(), np.zeros(8), jac=lambda a: G @ a - c + penalty,
        bounds=[(0, None)] * 8, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-12},
    ).x  # fmt: skip
    assert model.coef_ == pytest.approx(exact, abs=1e-6)
    assert model.order_[0] == np.argmax(c)


@pytest.mark.parametrize(
    ("function", "relevant"),
    [
        (lambda X: -2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.exp(-X[:, 3]), 4),
        (lambda X: X[:, 0] * np.exp(2 * X[:, 1]) + X[:, 2] ** 2, 2),
    ],
    ids=["additive", "product"],
)
def test_the_examples_of_its_paper(function, relevant):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 100))
    model = HSICLasso(random_state=0).fit(X, function(X) + 0.1 * rng.normal(size=300))
    assert set(model.order_[:relevant]) <= {0, 1, 2, 3}


def test_copies_constants_and_extreme_values():
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    X = np.column_stack([np.ones(60), x, x, 1e300 * np.tanh(rng.normal(size=60))])
    model = HSICLasso(random_state=0).fit(X, (x > 0).astype(int))
    assert model.order_[0] == 1 and 0 not in model.order_
    assert np.isfinite(model.coef_).all()
    assert HSICLasso().fit(X[:, :1], x).order_.tolist() == []


def test_blocks_are_a_matter_of_the_seed_alone():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 12)), rng.normal(size=90)
    first, again, other = (HSICLasso(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1))
    assert first.tolist() == again.tolist() != other.tolist()
    assert (
        HSICLasso(block=90, random_state=0).fit(X, y).coef_.tolist() == HSICLasso(block=None).fit(X, y).coef_.tolist()
    )
