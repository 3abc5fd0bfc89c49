"""Times of RFVM, FVM and P-SVM and of other solvers in the same run; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_relevance.py --benchmark-only``. One thread; nothing asserts a time.
"""

import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize
from sklearn.metrics import mutual_info_score
from threadpoolctl import threadpool_limits

from mfbench_datasets.ground_truth.rfvm import rfvm_regression_2
from mfbench_learners.discretise import bin_codes, compact
from mfbench_relevance import RFVM, feature_kernel
from mfbench_relevance._box.descent import optimality_gap, solve_box
from mfbench_relevance._kernel.information import information_matrix


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def measure(benchmark, action, rounds=3):
    """Benchmark an action after one run that compiles; return its best time."""
    action()
    benchmark.pedantic(action, rounds=rounds, iterations=1)
    return benchmark.stats.stats.min if benchmark.stats is not None else float("nan")


def seconds(action):
    """Time of one run."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


@pytest.mark.benchmark(group="relevance-simulation")
@pytest.mark.parametrize("preset", ["calibrated", "paper"])
def test_one_round_of_the_second_simulation(benchmark, preset):
    raw = rfvm_regression_2(n_samples=1000, seed=0)
    measure(benchmark, lambda: RFVM(preset, random_state=0).fit(raw.X, raw.y), rounds=5)


@pytest.mark.benchmark(group="relevance-2000x500")
@pytest.mark.parametrize("algorithm", ["auto", "fixed-point"])
@pytest.mark.parametrize("preset", ["calibrated", "paper"])
def test_two_thousand_features(benchmark, preset, algorithm):
    raw = rfvm_regression_2(n_samples=500, n_noise=1980, seed=0)
    RFVM(preset, algorithm=algorithm, random_state=0).fit(raw.X[:, :30], raw.y)
    fit = RFVM(preset, algorithm=algorithm, random_state=0).fit
    benchmark.pedantic(lambda: fit(raw.X, raw.y), rounds=1, iterations=1)


@pytest.mark.benchmark(group="relevance-kernel")
def test_mutual_information_of_all_pairs(benchmark):
    rng = np.random.default_rng(0)
    codes, sizes = compact(bin_codes(rng.normal(size=(1000, 300)), 16, "frequency"))
    ours = measure(benchmark, lambda: information_matrix(codes, sizes))
    pairs = [(i, i + 1) for i in range(200)]
    theirs = seconds(lambda: [mutual_info_score(codes[i], codes[j]) for i, j in pairs]) / len(pairs)
    benchmark.extra_info["microseconds_per_pair"] = 1e6 * ours / (300 * 299 / 2)
    benchmark.extra_info["times_faster_than_mutual_info_score"] = theirs / (ours / (300 * 299 / 2))


# -- a general solver for the same quadratic program, in both nonnegative parts ---------------------------------------


def split(K, k, epsilon):
    H = np.block([[K, -K], [-K, K]])
    linear = np.concatenate([epsilon - k, epsilon + k])
    return (lambda v: 0.5 * v @ H @ v + linear @ v), (lambda v: H @ v + linear), H


def interior_point(K, k, epsilon, C):
    value, slope, H = split(K, k, epsilon)
    limits = LinearConstraint(np.eye(len(H)), 0, C)
    options = {"gtol": 1e-8, "xtol": 1e-12, "barrier_tol": 1e-8}
    start = np.full(len(H), min(C, 1.0) / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = minimize(
            value, start, jac=slope, hess=lambda v: H, method="trust-constr", constraints=[limits], options=options
        )
    return found.x[: len(k)] - found.x[len(k) :]


def projected_quasi_newton(K, k, epsilon, C):
    value, slope, H = split(K, k, epsilon)
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 100_000, "maxfun": 100_000}
    found = minimize(value, np.zeros(len(H)), jac=slope, method="L-BFGS-B", bounds=Bounds(0, C), options=options)
    return found.x[: len(k)] - found.x[len(k) :]


@pytest.mark.benchmark(group="relevance-quadratic-program")
@pytest.mark.parametrize("C", [np.inf, 0.01], ids=["FVM", "P-SVM"])
def test_quadratic_program(benchmark, C):
    raw = rfvm_regression_2(n_samples=1000, copies=1, copy_noise=0.2, seed=0)
    kernel = feature_kernel(raw.X, raw.y, bins=7, target_bins=7, binning="width")
    K, k, epsilon = np.ascontiguousarray(kernel.features), kernel.cross[0].copy(), 0.01
    ours = measure(benchmark, lambda: solve_box(K, k, epsilon, C), rounds=10)
    benchmark.extra_info["optimality_gap"] = optimality_gap(K, k, epsilon, C, solve_box(K, k, epsilon, C)[0])
    for name, solver in (("interior_point", interior_point), ("l_bfgs_b", projected_quasi_newton)):
        found = []
        benchmark.extra_info[f"times_faster_than_{name}"] = (
            seconds(lambda s=solver, w=found: w.append(s(K, k, epsilon, C))) / ours
        )
        benchmark.extra_info[f"optimality_gap_of_{name}"] = optimality_gap(K, k, epsilon, C, found[0])


MEMORY = """
import resource, sys
import numpy as np
from threadpoolctl import threadpool_limits
from mfbench_relevance import feature_kernel

m = int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(1000, m))
with threadpool_limits(1):
    feature_kernel(X, X[:, 0] + 0.5)
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


@pytest.mark.benchmark(group="relevance-memory")
def test_ten_thousand_features(benchmark):
    """The whole kernel of 10,000 features and 1,000 rows, in a process of its own."""
    pytest.importorskip("resource")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def run():
        command = [sys.executable, "-c", MEMORY, "10000"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    benchmark.extra_info["peak_gigabytes"] = int(benchmark.pedantic(run, rounds=1, iterations=1)) / 1e9
