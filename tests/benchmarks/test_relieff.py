"""ReliefF against scikit-rebate, and the Relief family against fast-select, on one thread.

Run with ``pytest tests/benchmarks --benchmark-only``. Nothing asserts a time.
"""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin import MultiSURF, ReliefF

SHAPES = [(2000, 50), (5000, 200), (500, 5000)]


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


@pytest.mark.benchmark(group="relieff-2000x50")
def test_mfbench(benchmark, data, ours):
    X, y = data
    benchmark(ReliefF(n_neighbors=10).fit, X, y)


@pytest.mark.benchmark(group="relieff-2000x50")
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


@pytest.mark.benchmark(group="fast-select")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["ReliefF", "MultiSURF"])
def test_fast_select(benchmark, name, shape):
    """On one thread, against a peer that computes in single precision throughout."""
    peer = pytest.importorskip("fast_select")
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    ours = ReliefF(n_neighbors=10) if name == "ReliefF" else MultiSURF()
    options = {"n_neighbors": 10} if name == "ReliefF" else {}
    theirs = getattr(peer, name)(n_features_to_select=10, n_jobs=1, **options)
    times = {}
    for estimator, table in ((ours, X), (theirs, X.astype(np.float32))):
        estimator.fit(table[:100], y[:100])
        times[estimator] = min(_seconds(estimator, table, y) for _ in range(3))
    assert np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1] > 0.999
    benchmark.pedantic(ours.fit, args=(X, y), rounds=1, iterations=1)
    benchmark.extra_info["times_faster_than_fast_select"] = times[theirs] / times[ours]


def _seconds(estimator, X, y):
    begin = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - begin
