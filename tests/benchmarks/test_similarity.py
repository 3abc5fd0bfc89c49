"""The similarity learners on 20,000 rows of 16 features, compared with the algorithms in plain NumPy.

Run with ``pytest tests/benchmarks/test_similarity.py --benchmark-only``. One thread; nothing asserts a time. The rows
are those of the letter data if ``MFBENCH_DATA_DIR`` names a mirror that has them, else random. The plain versions use a
share of the rows as targets, each compared with all rows; their time is extrapolated to all targets.
"""

import os
import time
import tracemalloc

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from threadpoolctl import threadpool_limits

import mfbench
from mfbench.errors import MfbenchError
from mfbench_similarity import RBS, SRBS, SiLA, SimilarityKNN

SHARE = 50


@pytest.fixture(autouse=True)
def one_thread():
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        yield
    numba.set_num_threads(threads)


@pytest.fixture(scope="module")
def letters():
    """The rows, their labels, and their source."""
    if os.environ.get("MFBENCH_DATA_DIR"):
        try:
            data = mfbench.load_dataset("letter", offline=True)
            return data.X, data.y, "letter"
        except MfbenchError:
            pass
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, 20_000)
    return (
        np.clip(np.rint(rng.normal(size=(26, 16))[y] * 3 + rng.normal(size=(20_000, 16)) * 2 + 7), 0, 15),
        y,
        "made up",
    )


def best_of(action, rounds=2):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(benchmark, action, rounds=2):
    benchmark.pedantic(action, rounds=rounds, iterations=1)
    return benchmark.stats.stats.min if benchmark.stats is not None else float("nan")


def peak_bytes(action):
    tracemalloc.start()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def unit_rows(X):
    return X / np.linalg.norm(X, axis=1)[:, None]


def plain_neighbours(unit, y, targets, k):
    """Hits and misses of some samples by sorting all similarities to each."""
    hits, misses = [], []
    for i in targets:
        similarities = unit @ unit[i]
        similarities[i] = -np.inf
        order = np.argsort(-similarities, kind="stable")
        own = y[order] == y[i]
        hits.append(order[own][:k])
        misses.append(order[~own][:k])
    return np.array(hits), np.array(misses)


def plain_sila(unit, y, targets, k):
    """SiLA as in the paper, on some samples: the list of matrices, with impostors found under the current one."""
    p = unit.shape[1]
    A, course = np.zeros((p, p)), []
    for i in targets:
        own = y == y[i]
        start = unit @ unit[i]
        start[i] = -np.inf
        y_rows = unit[np.argsort(-np.where(own, start, -np.inf), kind="stable")[:k]]
        scores = unit @ (A.T @ unit[i]) if A.any() else start
        z_rows = unit[np.argsort(-np.where(own, -np.inf, scores), kind="stable")[:k]]
        if (unit[i] @ A @ (y_rows - z_rows).T).sum() <= 1e-12:
            A = A + np.outer(unit[i], (y_rows - z_rows).sum(axis=0))
            course.append([A, 1])
        else:
            course[-1][1] += 1
    return course


def plain_srbs_step(unit, A, hits, misses, targets, beta, l2):
    """One step of sRBS as in the paper: a loop over samples that sums their gradients."""
    total = np.zeros_like(A)
    for place, i in enumerate(targets):
        v = unit[hits[place]].sum(axis=0) - unit[misses[place]].sum(axis=0)
        u = beta * (unit[i] @ A @ v)
        total += -beta * np.outer(unit[i], v) * (expit(u) * expit(-u)) + 2 * l2 / len(targets) * A
    return A - total / len(targets)


@pytest.mark.benchmark(group="similarity-epoch")
@pytest.mark.parametrize("k", [1, 5])
def test_sila_epoch(benchmark, letters, k):
    X, y, source = letters
    SiLA(k, max_iter=1).fit(X[:500], y[:500])
    ours = measure(benchmark, lambda: SiLA(k, max_iter=1).fit(X, y))
    targets = np.arange(len(X) // SHARE)
    begin = time.perf_counter()
    plain = plain_sila(unit_rows(X), y, targets, k)
    theirs = (time.perf_counter() - begin) * SHARE
    small = X[: len(targets)], y[: len(targets)]
    voted = SiLA(k, prediction="voted", max_iter=1, max_matrices=len(targets)).fit(*small)
    check = plain_sila(unit_rows(small[0]), small[1], targets, k)
    # A class with fewer than k + 1 members among the first rows has fewer pairs, so only k = 1 is comparable.
    if k == 1 and np.bincount(small[1]).min() > 1:
        assert len(voted.voters_[0]) == len(check)
        assert_allclose(voted.voters_[0][-1][1], check[-1][0], rtol=0, atol=1e-9)
    benchmark.extra_info.update(
        data=source, updates=len(plain), plain_seconds_extrapolated=theirs, times_faster_than_plain=theirs / ours,
        peak_mib=peak_bytes(lambda: SiLA(k, max_iter=1).fit(X, y)) / 2**20,
    )  # fmt: skip


@pytest.mark.benchmark(group="similarity-epoch")
@pytest.mark.parametrize("k", [1, 5])
def test_srbs_epoch(benchmark, letters, k):
    X, y, source = letters
    SRBS(k, max_iter=1).fit(X[:500], y[:500])
    ours = measure(benchmark, lambda: SRBS(k, beta=10.0, l2=0.01, max_iter=1).fit(X, y))
    unit, targets = unit_rows(X), np.arange(len(X) // SHARE)
    begin = time.perf_counter()
    hits, misses = plain_neighbours(unit, y, targets, k)
    plain_srbs_step(unit, np.eye(X.shape[1]), hits, misses, targets, 10.0, 0.01)
    theirs = (time.perf_counter() - begin) * SHARE
    benchmark.extra_info.update(
        data=source, plain_seconds_extrapolated=theirs, times_faster_than_plain=theirs / ours,
        peak_mib=peak_bytes(lambda: SRBS(k, max_iter=1).fit(X, y)) / 2**20,
    )  # fmt: skip


@pytest.mark.benchmark(group="similarity-steps")
def test_srbs_steps(benchmark, letters):
    """Further steps, after the neighbours have been found."""
    X, y, source = letters
    few, many = (SRBS(beta=10.0, l2=0.01, max_iter=steps, tol=0.0) for steps in (1, 51))
    base = best_of(lambda: few.fit(X, y))
    ours = (measure(benchmark, lambda: many.fit(X, y)) - base) / 50
    unit, targets = unit_rows(X), np.arange(len(X) // SHARE)
    hits, misses = plain_neighbours(unit, y, targets, 1)
    theirs = SHARE * best_of(
        lambda: plain_srbs_step(unit, np.eye(X.shape[1]), hits, misses, targets, 10.0, 0.01)
    )  # fmt: skip
    benchmark.extra_info.update(data=source, seconds_per_step=ours, times_faster_than_plain=theirs / ours)


@pytest.mark.benchmark(group="similarity-epoch")
def test_srbs_epoch_for_each_letter(benchmark, letters):
    """Twenty-six matrices, each of one class against the rest, from one search for neighbours."""
    X, y, source = letters
    learner = SRBS(beta=10.0, l2=0.01, mode="one-vs-rest", max_iter=1)
    learner.fit(X[:500], y[:500])
    measure(benchmark, lambda: learner.fit(X, y), rounds=1)
    benchmark.extra_info.update(data=source, peak_mib=peak_bytes(lambda: learner.fit(X, y)) / 2**20)


@pytest.mark.benchmark(group="similarity-search")
def test_search_against_bare_products(benchmark, letters):
    """RBS is one search for neighbours and one product; the search needs at least the time of its blocked products."""
    X, y, source = letters
    RBS().fit(X[:500], y[:500])
    ours = measure(benchmark, lambda: RBS().fit(X, y))
    unit = unit_rows(X)

    def products():
        for begin in range(0, len(unit), 256):
            unit[begin : begin + 256] @ unit.T

    bare = best_of(products)
    targets = np.arange(len(X) // SHARE)
    plain = SHARE * best_of(lambda: plain_neighbours(unit, y, targets, 1))
    benchmark.extra_info.update(
        data=source, times_of_bare_products=ours / bare, times_faster_than_plain=plain / ours,
    )  # fmt: skip


@pytest.mark.benchmark(group="similarity-predict")
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_prediction(benchmark, letters, metric):
    X, y, source = letters
    fitted = SimilarityKNN(metric, 5).fit(X[4000:], y[4000:])
    fitted.predict(X[:10])
    measure(benchmark, lambda: fitted.predict(X[:4000]))
    benchmark.extra_info["data"] = source
