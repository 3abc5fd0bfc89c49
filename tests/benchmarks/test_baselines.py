"""LMNN against metric-learn's figures, and forward selection against scikit-learn's; ratios are in ``extra_info``.

Run with ``pytest tests/benchmarks/test_baselines.py --benchmark-only``. One thread; nothing asserts a time.
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from mfbench_baselines.metric import LMNN
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
