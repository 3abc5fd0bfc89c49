"""LMNN, forward selection, SODA, Boruta and hierNet against other implementations; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_baselines.py --benchmark-only``. One thread; nothing asserts a time.
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import mfbench_baselines.boruta
import mfbench_baselines.hiernet
from mfbench_baselines._hiernet_solver import solve_weak
from mfbench_baselines._newton import information, log_likelihood, score
from mfbench_baselines._soda_search import Search
from mfbench_baselines.boruta import Boruta
from mfbench_baselines.hiernet import HierNet
from mfbench_baselines.metric import LMNN
from mfbench_baselines.soda import SODA
from mfbench_baselines.stepwise import SequentialForward

# metric-learn needs an older scikit-learn, so its times were measured in an environment of its own, one thread too.
# They are processor time, which other programs on the machine disturb less; so is ours in the ratio.
DATA = Path(__file__).parents[1] / "baselines" / "data" / "lmnn_reference.json"
REFERENCE = json.loads(DATA.read_text(encoding="utf-8"))["data"]


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def table(name):
    if name == "1000x20":
        rng = np.random.default_rng(1)
        X = rng.normal(size=(1000, 20))
        y = X[:, 0] + rng.normal(size=1000) > 0
    else:
        X, y = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}[name](return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.benchmark(group="lmnn")
@pytest.mark.parametrize("name", REFERENCE)
def test_lmnn(benchmark, name):
    X, y = table(name)
    LMNN(tol=1e-2).fit(X[::5], y[::5])
    used = []

    def fit():
        begin = time.process_time()
        model = LMNN().fit(X, y)
        used.append(time.process_time() - begin)
        return model

    model = benchmark.pedantic(fit, rounds=3, iterations=1)
    theirs = REFERENCE[name]
    runs = [theirs["defaults"], theirs["faster_steps"]]
    assert model.objective_trace_[-1] <= min(run["objective"] for run in runs)
    benchmark.extra_info["objective"] = model.objective_trace_[-1]
    benchmark.extra_info["metric_learn_objectives"] = [run["objective"] for run in runs]
    benchmark.extra_info["processor_seconds"] = min(used)
    benchmark.extra_info["metric_learn_seconds_elsewhere"] = [run["seconds"] for run in runs]
    benchmark.extra_info["times_faster_than_metric_learn"] = [run["seconds"] / min(used) for run in runs]


@pytest.mark.benchmark(group="forward-selection-wdbc")
def test_forward_selection(benchmark):
    X, y = table("wdbc")
    SequentialForward(n_ranked=1).fit(X[::10], y[::10])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = benchmark.pedantic(lambda: SequentialForward(n_ranked=3, random_state=0).fit(X, y), rounds=3, iterations=1)
    begin = time.perf_counter()
    theirs = SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=3, cv=folds).fit(X, y)
    seconds = time.perf_counter() - begin
    assert set(ours.order_) == set(theirs.get_support(indices=True))
    if benchmark.stats is not None:
        benchmark.extra_info["scikit_learn_seconds"] = seconds
        benchmark.extra_info["times_faster_than_scikit_learn"] = seconds / benchmark.stats.stats.min


def one_by_one(search, fitted, features, single, paired):
    """What `Search._gains` returns, by a Newton step for each candidate from its own design matrix."""
    coefficients = search._coefficients()
    gains = []
    for j in features:
        new = [(j,)] if single else []
        if paired is not None:
            new += [(j, j), *((min(j, k), max(j, k)) for k in paired)]
        terms = [*search.terms, *new]
        design = np.ascontiguousarray(search._design(terms).T)
        start = np.ascontiguousarray(search._start(terms, coefficients).T)
        eta = start @ design
        shares = np.empty_like(eta)
        log_likelihood(eta, search.codes, shares)
        gradient = score(design, search.codes, shares, start).ravel()
        step = np.linalg.solve(information(design, shares, np.empty((0, len(search.X)))), gradient)
        gains.append(gradient @ step - search.cost * len(new))
    return np.array(gains)


@pytest.mark.benchmark(group="soda")
@pytest.mark.parametrize(("n", "p"), [(250, 1000), (72, 7000)])
def test_soda(benchmark, monkeypatch, n, p):
    """The sizes of the authors' example and of the leukemia dataset."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = rng.logistic(size=n) < 1 + X[:, 0] - X[:, 9] ** 2 + X[:, 9] * X[:, 19]
    model = benchmark.pedantic(lambda: SODA().fit(X, y), rounds=3, iterations=1)
    monkeypatch.setattr(Search, "_gains", one_by_one)
    begin = time.perf_counter()
    theirs = SODA().fit(X, y)
    seconds = time.perf_counter() - begin
    assert [move[:2] for move in model.path_] == [move[:2] for move in theirs.path_]
    if benchmark.stats is not None:
        benchmark.extra_info["seconds_one_by_one"] = seconds
        benchmark.extra_info["times_faster_than_one_by_one"] = seconds / benchmark.stats.stats.min


def scikit_learns_forest(columns, codes, n_estimators, max_depth, seed):
    """What `forest_importances` returns, by the forest of scikit-learn."""
    X = np.take_along_axis(columns.numbers, columns.ranks, axis=1).T
    return (
        RandomForestClassifier(n_estimators, max_depth=max_depth, random_state=seed).fit(X, codes).feature_importances_
    )


@pytest.mark.benchmark(group="boruta")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["wine", "wdbc", "1000x20"])
def test_boruta(benchmark, monkeypatch, name):
    X, y = table(name)
    Boruta(max_iter=1, n_estimators=1).fit(X[::5], y[::5])
    ours = benchmark.pedantic(lambda: Boruta(random_state=0).fit(X, y), rounds=3, iterations=1)
    monkeypatch.setattr(mfbench_baselines.boruta, "forest_importances", scikit_learns_forest)
    begin = time.perf_counter()
    theirs = Boruta(random_state=0).fit(X, y)
    seconds = time.perf_counter() - begin
    np.testing.assert_array_equal(ours.hits_, theirs.hits_)
    if benchmark.stats is not None:
        benchmark.extra_info["seconds_with_scikit_learns_forest"] = seconds
        benchmark.extra_info["times_faster_than_scikit_learns_forest"] = seconds / benchmark.stats.stats.min


@pytest.mark.benchmark(group="hiernet")
@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_hiernet(benchmark, monkeypatch, name):
    X, y = table(name)
    HierNet(relative_penalty=0.5).fit(X[::5], y[::5])
    benchmark.pedantic(lambda: HierNet(random_state=0).fit(X, y), rounds=3, iterations=1)
    monkeypatch.setattr(mfbench_baselines.hiernet, "solve_weak_active", solve_weak)
    begin = time.perf_counter()
    HierNet(random_state=0).fit(X, y)
    seconds = time.perf_counter() - begin
    if benchmark.stats is not None:
        benchmark.extra_info["seconds_with_all_terms"] = seconds
        benchmark.extra_info["times_faster_than_with_all_terms"] = seconds / benchmark.stats.stats.min
