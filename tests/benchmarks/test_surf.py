"""SURF and its relatives against scikit-rebate: 2000 × 50 numbers and 1600 × 20 categories, one thread.

Run with ``pytest tests/benchmarks/test_surf.py --benchmark-only``. Both give the same weights here; the ratio of the
times, measured in turn, is in ``extra_info``. Nothing asserts a time.
"""

import statistics
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

import mfbench_margin

PEERS = {"SURF": "SURF", "SURFStar": "SURFstar", "MultiSURF": "MultiSURF", "MultiSURFStar": "MultiSURFstar"}


def table(name):
    """Return X, y and the nominal features."""
    rng = np.random.default_rng(0)
    if name == "numbers-2000x50":
        X = rng.normal(size=(2000, 50))
        return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int), []
    # Genotypes at Hardy-Weinberg equilibrium; two of them interact.
    X = rng.choice(3, p=[0.36, 0.48, 0.16], size=(1600, 20)).astype(float)
    return (
        X,
        np.where(rng.random(1600) < 0.3, rng.integers(0, 2, 1600), (X[:, 0] + X[:, 1]) % 2).astype(int),
        [*range(20)],
    )


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("data", ["numbers-2000x50", "categories-1600x20"])
@pytest.mark.parametrize("name", PEERS)
def test_times_faster_than_skrebate(benchmark, name, data):
    skrebate = pytest.importorskip("skrebate")
    X, y, nominal = table(data)
    ours = getattr(mfbench_margin, name)(categorical_features=nominal)
    ours.fit(X[:50], y[:50])  # compiles
    theirs = getattr(skrebate, PEERS[name])(n_features_to_select=X.shape[1], categorical_features=nominal, n_jobs=1)
    begin = time.perf_counter()
    theirs.fit(X.copy(), y)
    seconds = time.perf_counter() - begin
    benchmark.pedantic(ours.fit, args=(X, y), rounds=7, iterations=1)
    assert_allclose(theirs.feature_importances_, ours.feature_importances_, rtol=0, atol=1e-10)
    if benchmark.stats is not None:
        benchmark.extra_info["skrebate_seconds"] = seconds
        benchmark.extra_info["times_faster"] = seconds / statistics.median(benchmark.stats.stats.data)
