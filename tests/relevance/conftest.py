import importlib.util
from pathlib import Path

import numpy as np
import pytest


def load(name):
    """Return a module from this folder."""
    spec = importlib.util.spec_from_file_location(f"relevance_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracles():
    return load("oracles")


@pytest.fixture(scope="session")
def simulations():
    return load("simulations")


@pytest.fixture(scope="session")
def make_regression():
    """Return a function that makes a table and a response: linear, quadratic, correlated and noise features."""

    def make(seed, n=200, p=12, noise=0.3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(n, p))
        X[:, 1] = 0.8 * X[:, 0] + 0.2 * X[:, 1]
        return X, X[:, 0] + 3 * X[:, 2] ** 2 - X[:, 3] + noise * rng.normal(size=n)

    return make


@pytest.fixture(scope="session")
def make_wide():
    """Return a function that makes more features than rows: independent ones, or ones that eight factors drive."""

    def make(seed, n, m, spread, design):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, m))
        if design == "factors":  # as genes are
            X = 0.3 * X + rng.normal(size=(n, 8)) @ rng.normal(size=(8, m))
        return X, X[:, [0, 1, -1]] @ [2.0, -1.5, 1.0] + spread * rng.normal(size=n)

    return make


@pytest.fixture(scope="session")
def messy_columns():
    """Continuous, rounded, binary, constant, duplicated and extreme columns."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(150, 4))
    odd = [np.round(x[:, 0]), x[:, 1] > 0, np.full(150, 7.0), x[:, 2], 1e200 * x[:, 3], rng.exponential(size=150)]
    return np.column_stack([x, *odd])
