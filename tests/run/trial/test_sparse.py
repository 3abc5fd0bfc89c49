"""Sparse features: the same results as dense ones, and methods that need dense ones are left out."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from small_runs import InProcess, job_of, results_of

from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset, DatasetSpec
from mfbench.model.trials import Status
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = 1
inner_folds = 2
scale = "none"
metrics = ["accuracy", "roc_auc"]
[[datasets]]
use = ["counts"]
[[methods]]
label = "selected"
selector = "anova-f"
top = 3
classifier = "svm-linear"
[[methods]]
label = "tuned"
classifier = "svm-linear"
tune = { C = [0.01, 1.0] }
[[methods]]
label = "weighted"
selector = "variance"
top = "all"
weights = "euclidean"
classifier = "knn"
[[methods]]
label = "curve"
selector = "anova-f"
curve = [1, 4]
classifier = "decision-tree"
[[methods]]
label = "forest"
classifier = "random-forest(n_estimators=10)"
[[methods]]
label = "dense"
selector = "anova-f"
classifier = "naive-bayes"
"""
ALL = {"selected", "tuned", "weighted", "curve", "forest", "dense"}


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.poisson(0.3, size=(90, 12)) + (rng.random((90, 12)) < 0.4) * (np.arange(12) < 3) * y[:, None]
    return X.astype(np.float64), y


@pytest.fixture
def results(make_plugin, tmp_path, counts):
    def run(form):
        X, y = form(counts[0]), counts[1]
        names = tuple("abcdefghijkl")
        data = Dataset(
            name="d", X=X, y=y, class_names=("u", "v", "w"), feature_names=names, categorical=np.zeros(12, dtype=bool)
        )
        spec = DatasetSpec(name="counts", summary="s", loader=lambda: data)
        registry = load_registry(only=["baselines"], extra=[("p", make_plugin("p", datasets=[spec]))])
        (tmp_path / "own.toml").write_text(SUITE)
        plan = make_plan(load_suite(str(tmp_path / "own.toml"), registry), registry)
        pool = InProcess()
        pool.start(job_of(plan, tmp_path / form.__name__))
        return plan, {(trial.method, trial.fold): result for trial, result in results_of(pool, plan.trials)}

    return run


def test_they_are_those_of_dense_features(results):
    _, dense = results(np.array)
    plan, sparse = results(csr_array)
    assert {result.status for result in sparse.values()} == {Status.OK}
    assert {method for method, _ in sparse} == ALL - {"dense"}
    assert plan.needs_dense == {"dense": ["counts"]}
    for place, result in sparse.items():
        np.testing.assert_array_equal(result.predictions, dense[place].predictions, err_msg=str(place))
        assert result.scores == pytest.approx(dense[place].scores)
        if result.weights is not None:
            np.testing.assert_allclose(result.weights, dense[place].weights)
            np.testing.assert_array_equal(result.selected, dense[place].selected)
