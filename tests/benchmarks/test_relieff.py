"""ReliefF against scikit-rebate: 2000 samples, 50 features, 10 neighbours, one thread.

Run with ``pytest tests/benchmarks --benchmark-only``. Both give the same weights here; nothing asserts a time.
"""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin import ReliefF

pytestmark = pytest.mark.benchmark(group="relieff-2000x50")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


@pytest.fixture(scope="module")
def ours(data):
    """Weights and best time of five fits, compilation excluded."""
    X, y = data
    ReliefF().fit(X[:50], y[:50])
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        fitted = ReliefF(n_neighbors=10).fit(X, y)
        times.append(time.perf_counter() - begin)
    return fitted.feature_importances_, min(times)


def test_mfbench(benchmark, data, ours):
    X, y = data
    benchmark(ReliefF(n_neighbors=10).fit, X, y)


def test_skrebate(benchmark, data, ours):
    skrebate = pytest.importorskip("skrebate")
    X, y = data
    theirs = skrebate.ReliefF(n_neighbors=10, n_features_to_select=50, n_jobs=1)
    benchmark.pedantic(theirs.fit, args=(X.copy(), y), rounds=1, iterations=1)
    weights, seconds = ours
    assert_allclose(theirs.feature_importances_, weights, rtol=0, atol=1e-10)
    if benchmark.stats is not None:
        benchmark.extra_info["mfbench_seconds"] = seconds
        benchmark.extra_info["times_faster"] = benchmark.stats.stats.min / seconds
