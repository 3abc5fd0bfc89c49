"""Times of the information criteria and of peers in the same run; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_information.py --benchmark-only``. One thread; nothing asserts a time. Peers
that are not installed are left out.
"""

import time

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif
from threadpoolctl import threadpool_limits

from mfbench_information._levels import levels_of
from mfbench_information.filters import InformationFilter
from mfbench_information.greedy import GreedyInformation
from mfbench_information.subsets import CFS


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def table():
    """2,000 rows of 500 columns; each of the first 20 tells a little about the two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 500))
    X[:, :20] += 0.3 * y[:, None]
    return X, y


def seconds(action):
    """Time of one run."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure(benchmark, action, rounds=3):
    """Benchmark an action after one run that compiles; return its best time."""
    action()
    benchmark.pedantic(action, rounds=rounds, iterations=1)
    return benchmark.stats.stats.min if benchmark.stats is not None else float("nan")


def counted_by_numpy(codes, y, steps):
    """The counts of a greedy selection alone: of all columns with each of `steps` columns and the classes."""
    for k in range(steps):
        joined = 2 * codes[k].astype(np.int64) + y
        for row in codes:
            np.bincount(10 * row.astype(np.int64) + joined, minlength=50)


@pytest.mark.benchmark(group="information-greedy")
@pytest.mark.parametrize("n_ranked", [2, 50])
def test_joint_mutual_information(benchmark, table, n_ranked):
    X, y = table
    ours = measure(benchmark, lambda: GreedyInformation(n_ranked=n_ranked).fit(X, y))
    codes = levels_of(X, y, "frequency", 5)[0]
    counting = seconds(lambda: counted_by_numpy(codes, y, n_ranked))
    benchmark.extra_info["times_faster_than_counting_by_numpy"] = counting / ours
    if n_ranked == 2:  # its time grows with the number of selected features as ours does
        peer = pytest.importorskip("skfeature.function.information_theoretical_based.LCSI")
        columns = np.ascontiguousarray(codes.T)
        theirs = seconds(lambda: peer.lcsi(columns, y, function_name="JMI", mode="index", n_selected_features=2))
        benchmark.extra_info["times_faster_than_skfeature"] = theirs / ours
    else:  # a simpler criterion, whose counts need no classes
        peer = pytest.importorskip("fast_select").mRMR(n_features_to_select=n_ranked)
        columns = np.ascontiguousarray(codes.T).astype(np.int64)
        peer.fit(columns[:, :60], y)  # compiles
        benchmark.extra_info["times_faster_than_mrmr_of_fast_select"] = seconds(lambda: peer.fit(columns, y)) / ours


@pytest.mark.benchmark(group="information-filter")
@pytest.mark.parametrize("binning", ["frequency", "width", "mdl"])
def test_information_gain(benchmark, table, binning):
    X, y = table
    ours = measure(benchmark, lambda: InformationFilter(binning=binning).fit(X, y))
    neighbours = seconds(lambda: mutual_info_classif(X, y, random_state=0))
    benchmark.extra_info["times_faster_than_mutual_info_classif"] = neighbours / ours


@pytest.mark.benchmark(group="information-subset")
def test_correlation_based_selection(benchmark, table):
    X, y = table
    codes = levels_of(X, y, "frequency", 5)[0].T.astype(np.int64)
    ours = measure(benchmark, lambda: CFS().fit(codes, y))
    peer = pytest.importorskip("fast_select")
    their = peer.CFS(n_jobs=1)
    their.fit(codes[:, :10], y)  # compiles
    benchmark.extra_info["times_faster_than_fast_select"] = seconds(lambda: their.fit(codes, y)) / ours
