import importlib.util
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def oracles():
    spec = importlib.util.spec_from_file_location("similarity_oracles", Path(__file__).with_name("oracles.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_numbers():
    return _make_numbers


@pytest.fixture(scope="session")
def make_ties():
    return _make_ties


def _make_numbers(seed, n=30, p=4, n_classes=2, shift=0.7):
    """Classes that overlap, each with at least 3 members; no two similarities are equal."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.concatenate([np.repeat(np.arange(n_classes), 3), rng.integers(0, n_classes, n)])[:n])
    X = rng.normal(size=(n, p))
    X[:, 0] += shift * y
    return X, y


def _make_ties(seed, n=18, p=3, n_classes=3):
    """Small whole numbers: many equal similarities, duplicates, rows of zeros; one class may have one member."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, p)).astype(float)
    y = np.concatenate([np.arange(n_classes), [0, 0], rng.integers(0, n_classes, n)])[:n]
    return X, rng.permutation(y)
