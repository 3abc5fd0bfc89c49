import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

# Make `every_estimator` importable, which test files share.
sys.path.insert(0, str(Path(__file__).parent))


def _load(name):
    spec = importlib.util.spec_from_file_location(f"margin_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracles():
    return _load("oracles")


@pytest.fixture(scope="session")
def oracles_soft():
    return _load("oracles_soft")


@pytest.fixture(scope="session")
def immigrate_oracles():
    return _load("oracles_immigrate")


@pytest.fixture(scope="session")
def neighbours():
    """Oracles of the learners whose neighbours are nearest in the metric that they learn."""
    return _load("oracles_neighbours")


@pytest.fixture(scope="session")
def make_table():
    return _make_table


@pytest.fixture(scope="session")
def make_groups():
    return _make_groups


@pytest.fixture(scope="session")
def package_figures():
    """Results of the authors' R package: cases, each with the X and y that it was fitted on, and X_rest to predict."""
    figures = json.loads((Path(__file__).parent / "data" / "immigrate_reference.json").read_text())
    cases = []
    for case in figures["cases"]:
        X, y = _package_data(case["data"])
        stored = figures["sets"][case["data"]]
        assert X.shape == (stored["n"], stored["p"])
        assert np.abs(X).sum() == pytest.approx(stored["sum_of_absolute_values"], rel=1e-12)
        rest = X[1::2]
        if case["rows"] == "odd":
            X, y = X[::2], y[::2]
        cases.append({**case, "X": X, "y": y, "X_rest": rest, "W": np.array(case["W"])})
    return cases


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


def _make_groups(seed, n=24, p=4, n_classes=2, alone=False, shift=0.8):
    """Standardised numbers in groups that overlap; two columns interact; optionally one sample alone in its class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.concatenate([np.repeat(np.arange(n_classes), 3), rng.integers(0, n_classes, n)])[:n])
    X = rng.normal(size=(n, p))
    X[:, 0] += shift * y
    if p > 2:
        X[:, 2] = np.where(y % 2 == 0, 1, -1) * X[:, 1] + 0.5 * X[:, 2]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    if alone:
        y[n // 2] = n_classes
    return X, y


def _package_data(name):
    if name == "xor":
        X = np.random.default_rng(0).normal(size=(80, 6))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
    elif name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X, y = X[:150, :8], y[:150]
    else:
        X, y = (load_wine if name == "wine" else load_iris)(return_X_y=True)
        kept = {"iris": y > 0, "wine": y < 2}.get(name, y >= 0)
        X, y = X[kept], y[kept]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y


@pytest.fixture
def table(make_groups):
    """Two groups of rows that a quick fit separates."""
    return make_groups(31, n=24, p=4, shift=2)
