"""SQP-FW against the same sequence of quadratic programs through quadprog; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_sqpfw.py --benchmark-only``. One thread; nothing asserts a time.
"""

import time

import numba
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from mfbench_sqpfw import SQPFeatureWeighting, SQPFeatureWeightingPath
from mfbench_sqpfw._active_set.descent import descend, solve
from mfbench_sqpfw._active_set.problem import prepare
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import EVALUATED, POSITIVE, RECHECKS, STEPS, TIES
from mfbench_sqpfw.charts import SIZES, step_cost


@pytest.fixture(autouse=True)
def one_thread():
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        yield
    numba.set_num_threads(threads)


def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def random_table(n, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, 0] += y
    return X, y


def warm():
    X, y = random_table(40, 5)
    SQPFeatureWeighting(theta=0.3).fit(X, y)
    SQPFeatureWeightingPath(theta_max=0.1).fit(X, y)


@pytest.mark.benchmark(group="sqpfw-step")
@pytest.mark.parametrize("theta", [0.03, 0.3])
def test_step_on_wdbc(benchmark, theta):
    warm()
    X, y = wdbc()
    problem = prepare(X, y, kappa=1, lam=1, working_set=20)
    done = []

    def setup():
        return (begin(problem),), {}

    def action(state):
        done.append(descend(state, theta=theta, tolerance=1e-10, max_steps=100_000)[0])

    benchmark.pedantic(action, setup=setup, rounds=3, iterations=1)
    if benchmark.stats is None:
        return
    counts = done[-1].counts
    steps = int(counts[STEPS])
    benchmark.extra_info["steps"] = steps
    benchmark.extra_info["milliseconds_per_step"] = 1e3 * benchmark.stats.stats.min / steps
    benchmark.extra_info["pairs_looked_at_per_step"] = int(counts[EVALUATED]) / steps
    benchmark.extra_info["rechecks"] = int(counts[RECHECKS])


@pytest.mark.benchmark(group="sqpfw-scaling")
def test_step_over_n(benchmark):
    warm()
    costs = benchmark.pedantic(lambda: [step_cost(n) for n in SIZES], rounds=1, iterations=1)
    exponent, _ = np.polyfit(np.log(SIZES), np.log(costs), 1)
    benchmark.extra_info["milliseconds_per_step"] = {str(n): 1e3 * cost for n, cost in zip(SIZES, costs, strict=True)}
    benchmark.extra_info["exponent"] = float(exponent)


@pytest.mark.benchmark(group="sqpfw-path")
def test_whole_path(benchmark):
    warm()
    X, y = wdbc()
    fitted = benchmark.pedantic(lambda: SQPFeatureWeightingPath(theta_max=1.0).fit(X, y), rounds=1, iterations=1)
    benchmark.extra_info["breakpoints"] = len(fitted.path_.events)
    benchmark.extra_info["jumps"] = len(fitted.path_.jumps)


def expression(n, p, seed=0):
    """Data like those of gene sets: a few of very many features differ between the classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, : p // 50] += y[:, None]
    return X, y


@pytest.mark.benchmark(group="sqpfw-wide")
@pytest.mark.parametrize(("n", "p", "theta"), [(62, 2000, 1.0), (49, 7129, 0.1)])
def test_wide_data(benchmark, n, p, theta):
    """A cold start on wide data, where features leave and return thousands of times; and the rows tested again."""
    warm()
    X, y = expression(n, p)
    fitted = benchmark.pedantic(lambda: SQPFeatureWeighting(theta=theta).fit(X, y), rounds=1, iterations=1)
    note(benchmark, fitted)


@pytest.mark.benchmark(group="sqpfw-ties")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories(benchmark, n_classes):
    """1600 x 20 categories, nearly all of whose distances are tied."""
    warm()
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (1600, 20)).astype(float), rng.integers(0, n_classes, 1600)
    fitted = benchmark.pedantic(lambda: SQPFeatureWeighting(random_state=0).fit(X, y), rounds=1, iterations=1)
    note(benchmark, fitted)


def note(benchmark, fitted):
    benchmark.extra_info["steps"] = fitted.n_steps_
    benchmark.extra_info["rechecks"] = fitted.n_rechecks_
    benchmark.extra_info["objective"] = fitted.objective_
    benchmark.extra_info["optimal"] = fitted.certificate_.optimal
    if benchmark.stats is not None:
        benchmark.extra_info["milliseconds_per_step"] = 1e3 * benchmark.stats.stats.min / fitted.n_steps_


@pytest.mark.benchmark(group="sqpfw-memory")
def test_memory_of_a_path(benchmark):
    """The weights of a path on wide data take the memory of those that are positive; the ratio to all of them."""
    warm()
    X, y = expression(40, 3000)
    fitted = benchmark.pedantic(lambda: SQPFeatureWeightingPath(theta_max=0.3).fit(X, y), rounds=1, iterations=1)
    stored = fitted.path_.stored
    benchmark.extra_info["share_of_the_full_table"] = stored.nbytes / (8 * len(stored) * stored.n_columns)


def quadprog_step(quadprog, state, theta):
    """Return the seconds that quadprog needs for the QP (3) of the current sets with all constraints."""
    n_targets, p = len(state.targets), int(state.counts[POSITIVE])
    X = state.X[:, :p]
    rows, signs = [], []
    for row in range(2 * n_targets):
        i = state.targets[row % n_targets]
        e = (X - X[i]) ** 2
        member = (state.codes == state.codes[i]) == (row < n_targets)
        member[[i, state.rep[row]]] = False
        sign = np.ones(len(X))
        sign[state.less[row, : state.n_less[row]]] = -1
        for k in range(state.counts[TIES]):
            if state.tie_row[k] == row:
                member[state.tie_member[k]] = False
        rows.append((e - e[state.rep[row]])[member])
        signs.append(sign[member])
    unequal = np.vstack([np.vstack(rows) * np.concatenate(signs)[:, None], np.eye(p)])
    equal = np.vstack([np.ones(p), state.tie_b[state.tie_slot[: state.counts[TIES]], :p]])
    right = np.r_[1.0, np.zeros(len(equal) - 1 + len(unequal))]
    lin = state.bar[:p] - theta * state.c[:p]
    begin = time.perf_counter()
    quadprog.solve_qp(np.eye(p), lin, np.vstack([equal, unequal]).T, right, len(equal))
    return time.perf_counter() - begin


@pytest.mark.benchmark(group="sqpfw-peer")
def test_against_quadprog(benchmark):
    """The same QPs at 20 points of one run; only the solver is timed, not the construction of its constraints."""
    quadprog = pytest.importorskip("quadprog", reason="quadprog is not installed")
    warm()
    X, y = random_table(150, 10)
    problem, theta = prepare(X, y, kappa=1, lam=1, working_set=20), 0.3
    state, theirs, history = begin(problem), [], np.empty(16)
    for _ in range(20):
        solve(state, theta, 1e-10, 10, history)
        theirs.append(quadprog_step(quadprog, state, theta))
    steps = []

    def action(state):
        steps.append(int(descend(state, theta=theta, tolerance=1e-10, max_steps=100_000)[0].counts[STEPS]))

    benchmark.pedantic(action, setup=lambda: ((begin(problem),), {}), rounds=5, iterations=1)
    if benchmark.stats is None:
        return
    ours = benchmark.stats.stats.min / steps[-1]
    benchmark.extra_info["milliseconds_per_step"] = 1e3 * ours
    benchmark.extra_info["quadprog_milliseconds_per_qp"] = 1e3 * float(np.median(theirs))
    benchmark.extra_info["times_faster"] = float(np.median(theirs)) / ours
