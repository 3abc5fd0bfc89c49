"""IMMIGRATE and related learners against peers measured in the same run; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_margin.py --benchmark-only``. One thread; nothing asserts a time.
"""

import os
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

import mfbench_margin
from mfbench_margin._quadratic import layout

# User time of the authors' R package, version and call as in tests/margin/data/immigrate_reference.json: a whole call
# of 10 iterations with sigma = 1, one thread, reference BLAS. Two measurements, on two machines.
PACKAGE_SECONDS = {"wdbc": (3.8, 7.5), "2000x20": (26.0, 52.8)}


@pytest.fixture(autouse=True)
def one_thread():
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        yield
    numba.set_num_threads(threads)


def published(max_iter=10, **parameters):
    settings = {"cone": "psd", "tol": 0.0, "precision": "double"} | parameters
    return mfbench_margin.IMMIGRATE(solver="published", max_iter=max_iter, **settings)


def seconds(action, rounds=3):
    """Best time of several runs."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(benchmark, action, rounds=3):
    """Benchmark an action after one run that compiles; return its best time."""
    action()
    benchmark.pedantic(action, rounds=rounds, iterations=1)
    return benchmark.stats.stats.min if benchmark.stats is not None else float("nan")


def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y


def random_table(n, p, seed=1):
    """Classes that depend on the first column and on noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def row_by_row(X, y, sigma, iterations):
    """IMMIGRATE written plainly: for each sample, its differences to all others."""
    n, p = X.shape
    W = np.eye(p) / np.sqrt(p)
    for _ in range(iterations):
        total = np.zeros((p, p))
        for i in range(n):
            D = np.abs(X - X[i])
            q = ((D @ W) * D).sum(axis=1)
            hit = y == y[i]
            hit[i] = False
            coefficients = np.zeros(n)
            for mask, sign in ((hit, 1.0), (y != y[i], -1.0)):
                e = np.exp(-(q[mask] - q[mask].min()) / sigma)
                coefficients[mask] = sign * e / e.sum()
            total += (D * coefficients[:, None]).T @ D
        eigenvalues, vectors = np.linalg.eigh(-(total + total.T) / 2)
        W = (vectors * np.maximum(eigenvalues, 0)) @ vectors.T
        W /= np.linalg.norm(W)
    return W


@pytest.mark.benchmark(group="immigrate")
@pytest.mark.parametrize("name", ["wdbc", "2000x20"])
def test_whole_fit(benchmark, name):
    X, y = wdbc() if name == "wdbc" else random_table(2000, 20)
    ours = measure(benchmark, lambda: published().fit(X, y))
    begin = time.perf_counter()
    plain = row_by_row(X, y, 1.0, 10)
    theirs = time.perf_counter() - begin
    fitted = published().fit(X, y)
    if fitted.n_iter_ == 10:
        assert_allclose(fitted.matrix_, plain, rtol=0, atol=1e-9)
    benchmark.extra_info["iterations"] = fitted.n_iter_
    benchmark.extra_info["row_by_row_seconds"] = theirs
    benchmark.extra_info["times_faster_than_row_by_row"] = theirs / ours
    benchmark.extra_info["r_package_seconds_elsewhere"] = PACKAGE_SECONDS[name]
    benchmark.extra_info["times_faster_than_r_package"] = [t / ours for t in PACKAGE_SECONDS[name]]


def bare_products(n, p, tile=256):
    """The two products of one iteration for half of the pairs, on tiles that stay in cache."""
    D, W = np.random.default_rng(0).random((tile, p)), np.eye(p)
    product, total = np.empty((tile, p)), np.empty((p, p))
    for _ in range(n * (n - 1) // 2 // tile + 1):
        np.dot(D, W, out=product)
        np.dot(D.T, product, out=total)


@pytest.mark.benchmark(group="immigrate-iteration")
@pytest.mark.parametrize("p", [30, 100])
def test_one_iteration(benchmark, p):
    X, y = random_table(2000, p)
    first = measure(benchmark, lambda: published(max_iter=1).fit(X, y))
    third = seconds(lambda: published(max_iter=3).fit(X, y))
    products = seconds(lambda: bare_products(2000, p))
    flops = 2 * 2.0 * p * p * 2000 * 1999 / 2
    benchmark.extra_info["seconds_per_iteration"] = (third - first) / 2
    benchmark.extra_info["bare_products_seconds"] = products
    benchmark.extra_info["bare_products_gflops"] = flops / products / 1e9
    benchmark.extra_info["iteration_over_bare_products"] = (third - first) / 2 / products


MEMORY = """
import resource, sys
import numpy as np
from threadpoolctl import threadpool_limits
import mfbench_margin

n, p = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
X = rng.normal(size=(n, p))
y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
estimator = mfbench_margin.IMMIGRATE(solver="published", cone="psd", max_iter=1)
with threadpool_limits(1):
    estimator.fit(X[:100], y[:100])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    estimator.fit(X, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# Kilobytes on Linux, bytes on macOS.
unit = 1 if sys.platform == "darwin" else 1024
print(before * unit, after * unit)
"""


@pytest.mark.benchmark(group="immigrate-memory")
def test_peak_memory(benchmark):
    """One iteration for 20,000 samples in its own process: memory of NumPy, numba and BLAS together."""
    pytest.importorskip("resource")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def run():
        command = [sys.executable, "-c", MEMORY, "20000", "30"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    before, after = map(int, benchmark.pedantic(run, rounds=1, iterations=1).split())
    benchmark.extra_info["megabytes_above_a_small_fit"] = (after - before) / 2**20
    benchmark.extra_info["megabytes_of_one_distance_matrix"] = 20_000**2 * 8 / 2**20


@pytest.mark.benchmark(group="immigrate-10000x12")
def test_many_samples(benchmark):
    X, y = random_table(10_000, 12)
    published(max_iter=1).fit(X[:100], y[:100])
    benchmark.pedantic(lambda: published().fit(X, y), rounds=1, iterations=1)


@pytest.mark.benchmark(group="immigrate-6000x28")
@pytest.mark.parametrize(
    "parameters", [{"n_jobs": 2}, {"precision": "auto"}, {"precision": "auto", "n_jobs": 2}], ids=str
)
def test_threads_and_single_precision(benchmark, parameters):
    """Ten iterations against those in double precision on one thread."""
    X, y = random_table(6000, 28)
    published(max_iter=2, **parameters).fit(X[:5000], y[:5000])
    ours = benchmark.pedantic(lambda: published(**parameters).fit(X, y), rounds=1, iterations=1)
    begin = time.perf_counter()
    plain = published().fit(X, y)
    theirs = time.perf_counter() - begin
    assert_allclose(ours.matrix_, plain.matrix_, rtol=0, atol=1e-4)
    benchmark.extra_info["plain_seconds"] = theirs
    if benchmark.stats is not None:
        benchmark.extra_info["times_faster"] = theirs / benchmark.stats.stats.min


@pytest.mark.benchmark(group="bim-7097x28")
def test_boosting_of_many_samples(benchmark):
    """Three rounds as in the suite `uci` against those in double precision without stored distances."""
    X, y = random_table(7097, 28)
    settings = {"n_estimators": 3, "perfect": "discard"}
    make = mfbench_margin.BoostedIMMIGRATE
    make(n_estimators=1).fit(X[:1000], y[:1000])
    ours = benchmark.pedantic(lambda: make(**settings).fit(X, y), rounds=1, iterations=1)
    begin = time.perf_counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "CACHE_BYTES", 0)
        plain = make(precision="double", **settings).fit(X, y)
    theirs = time.perf_counter() - begin
    assert_allclose(ours.matrix_, plain.matrix_, rtol=0, atol=1e-4)
    benchmark.extra_info["plain_seconds"] = theirs
    if benchmark.stats is not None:
        benchmark.extra_info["times_faster"] = theirs / benchmark.stats.stats.min


SCREENED = {
    "im4e": lambda: mfbench_margin.IM4E(sigma=4.0),
    "egt": lambda: mfbench_margin.IM4EIMMIGRATE(sigma=4.0),
    "b4g": lambda: mfbench_margin.BoostedIM4EIMMIGRATE(n_estimators=10),
    "relieff": lambda: mfbench_margin.ReliefF(n_neighbors=10),
}


@pytest.mark.benchmark(group="genes-100x20000")
@pytest.mark.parametrize("name", SCREENED)
def test_many_features(benchmark, name):
    X, y = random_table(100, 20_000)
    X[:, :50] += y[:, None]
    SCREENED[name]().fit(X[:, :200], y)
    benchmark.pedantic(lambda: SCREENED[name]().fit(X, y), rounds=1, iterations=1)


@pytest.mark.benchmark(group="bim-round")
def test_boosting_round(benchmark):
    """Ten rounds against their fits and one prediction of all training rows each."""
    X, y = wdbc()
    weights = np.full(len(y), 1 / len(y))
    settings = {"solver": "published", "cone": "psd", "max_iter": 5}

    def boosted():
        return mfbench_margin.BoostedIMMIGRATE(n_estimators=10, perfect="discard", **settings).fit(X, y)

    ten = measure(benchmark, boosted, rounds=2)
    parts = []
    for t in range(10):
        learner = mfbench_margin.IMMIGRATE(sigma=4.0 * (0.2 / 4.0) ** (t / 10), **settings)
        parts.append(seconds(lambda learner=learner: learner.fit(X, y, sample_weight=weights), rounds=2))
        parts.append(seconds(lambda learner=learner: learner.predict(X), rounds=2))
    benchmark.extra_info["seconds_per_round"] = ten / 10
    benchmark.extra_info["rounds_over_their_parts"] = ten / sum(parts)
