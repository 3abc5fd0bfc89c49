import importlib.util
from pathlib import Path

import numpy as np
import pytest

# The last four stall at the start: with binary features and equal weights nearly everything is tied.
QUICK = [*range(24), 197, 293, 350, 509]
SLOW = pytest.mark.slow(reason="hundreds of problems")
SEEDS = [*QUICK, *(pytest.param(seed, marks=SLOW) for seed in range(24, 520) if seed not in QUICK)]


@pytest.fixture(scope="session")
def oracles():
    spec = importlib.util.spec_from_file_location("sqpfw_oracles", Path(__file__).with_name("oracles.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=SEEDS)
def problem_seed(request):
    """The seed of one of 520 random problems, 28 of them quick."""
    return request.param


@pytest.fixture(params=SEEDS[:28:3] + SEEDS[28:200:3])
def few_seeds(request):
    """The seed of one of 68 random problems, 10 of them quick."""
    return request.param


@pytest.fixture
def noisy():
    """Eight features of which the third separates the classes."""
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 8))
    X[:, 2] += 2.5 * y
    return X, y
