import importlib.util
from pathlib import Path

import numpy as np
import pytest

# The last two stall at the start: with binary features and equal weights nearly everything is tied.
QUICK = [*range(8), 197, 350]
NIGHTLY = pytest.mark.nightly(reason="hundreds of problems")
SEEDS = [*QUICK, *(pytest.param(seed, marks=NIGHTLY) for seed in range(8, 520) if seed not in QUICK)]


@pytest.fixture(scope="session")
def oracles():
    spec = importlib.util.spec_from_file_location("sqpfw_oracles", Path(__file__).with_name("oracles.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=SEEDS)
def problem_seed(request):
    """The seed of one of 520 random problems, ten of them quick."""
    return request.param


@pytest.fixture(params=SEEDS[:10:2] + SEEDS[10:200:3])
def few_seeds(request):
    """The seed of one of 69 random problems, five of them quick."""
    return request.param


@pytest.fixture
def noisy():
    """Eight features of which the third separates the classes."""
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 8))
    X[:, 2] += 2.5 * y
    return X, y
