"""A run with the metrics of a third party, in worker processes."""

import json
import os
import sys

import numpy as np
import pytest

import mfbench
from mfbench.report.contents import report_of
from mfbench.report.render.files import to_json

PLUGIN = """
from mfbench import MetricSpec, hookimpl


def share_of_first(y_true, y_pred, code=0):
    return float((y_pred == code).mean())


def raising(y_true, y_pred):
    raise RuntimeError("no licence")


@hookimpl
def mfbench_metrics():
    for function in (share_of_first, raising):
        yield MetricSpec(name=function.__name__, summary=function.__name__, function=function)
"""
SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
inner_folds = 2
[[datasets]]
use = ["iris"]
[[methods]]
label = "KNN"
classifier = "knn"
tune = { n_neighbors = [1, 3] }
[[methods]]
label = "SVM"
classifier = "svm-linear"
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the suite with two workers and metrics before its own."""
    (tmp_path / "their_metrics.py").write_text(PLUGIN)
    (tmp_path / "own.toml").write_text(SUITE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "baselines,datasets,their_metrics")
    yield lambda *metrics: mfbench.run_suite(str(tmp_path / "own.toml"), metric=metrics, out=tmp_path / "out", jobs=2)
    sys.modules.pop("their_metrics", None)


def test_a_metric_that_raises_marks_its_cell_and_not_the_trial(run):
    done = run("share_of_first(code=2)", "raising", "log_loss")
    trials = done.trials
    assert list(trials["status"]) == ["ok"] * 6
    assert trials[["accuracy", "balanced_accuracy"]].gt(0.5).all(axis=None)
    predicted = [np.mean(codes == 2) for codes in trials["predictions"]]
    np.testing.assert_allclose(trials["share_of_first(code=2)"], predicted)
    assert trials["raising"].isna().all()
    assert trials["warning"].str.contains("metric 'raising' failed: RuntimeError: no licence", regex=False).all()
    missing = trials["log_loss"].isna()
    assert list(trials["method"][missing].unique()) == ["SVM"]  # it has no probabilities


def test_what_a_metric_that_raises_judges_has_no_score_and_what_it_tunes_fails(run):
    done = run("raising")
    status = done.trials.set_index("method")
    assert set(status.loc["SVM", "status"]) == {"ok"}
    assert set(status.loc["KNN", "error_message"]) == {"the score 'raising' is undefined on every inner fold"}
    assert done.scores["mean"].isna().all()
    assert json.loads(to_json(report_of(done)))["metric"] == "raising"
