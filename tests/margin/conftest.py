import importlib.util
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def oracles():
    return _load("oracles")


@pytest.fixture(scope="session")
def neighbours():
    """Oracles of the learners that look for neighbours in the metric they learn."""
    return _load("oracles_neighbours")


def _load(name):
    spec = importlib.util.spec_from_file_location(f"margin_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_table():
    return _make_table


@pytest.fixture(scope="session")
def messy_table():
    return _messy_table


def _messy_table(seed, n_classes=3):
    """Ties, duplicates of the same and of another class, one class of a single member, one constant feature."""
    X, y, _ = _make_table(seed, 30, 2, 3, n_classes=n_classes)
    X = X / np.abs(X).max(axis=0)
    X, y = np.vstack([X, X[:4], X[4:5]]), np.concatenate([y, y[:4], [n_classes]])
    return np.column_stack([X, np.full(len(X), 0.1)]), y


def _make_table(seed, n=40, n_numeric=3, n_grid=1, n_nominal=0, missing=0.0, n_classes=2):
    """Numbers, integers (many ties), categories; classes of unequal size, each with at least two members."""
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n - 2 * n_classes) ** 2 % n_classes]
    )
    y = rng.permutation(y)
    X = np.hstack([
        rng.normal(size=(n, n_numeric)) * 10.0 ** rng.integers(-3, 4, n_numeric) + 0.5 * y[:, None],
        rng.integers(0, 8, size=(n, n_grid)),
        (rng.integers(0, 4, size=(n, n_nominal)) + y[:, None]) % 4,
    ])  # fmt: skip
    X[rng.random(X.shape) < missing] = np.nan
    nominal = np.arange(X.shape[1]) >= n_numeric + n_grid
    shuffle = rng.permutation(X.shape[1])
    return np.ascontiguousarray(X[:, shuffle]), y, nominal[shuffle]
