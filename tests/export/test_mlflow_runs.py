"""Runs of MLflow, read again by its client from a store of files."""

import sys

import numpy as np
import pytest

import mfbench
from mfbench.errors import MfbenchError, UsageError
from mfbench_export.mlflow_runs import log_mlflow


@pytest.fixture
def uri(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "mlruns").as_uri()


def test_a_run_for_each_method_and_dataset(small_run, uri):
    from mlflow.tracking import MlflowClient

    run = mfbench.load_run(small_run)
    (line,) = log_mlflow(run, uri)
    assert line == f"Logged 4 runs in the experiment 'mfbench own full' at {uri}."
    client = MlflowClient(uri)
    number = client.get_experiment_by_name("mfbench own full").experiment_id
    logged = {each.info.run_name: each for each in client.search_runs([number])}
    assert set(logged) == {f"{method} on iris" for method in "ABCD"}
    own = run.trials[run.trials["method"] == "B"]
    made = logged["B on iris"]
    assert made.data.metrics["accuracy"] == pytest.approx(own["accuracy"].mean())
    assert made.data.metrics["failed_trials"] == 0 and made.info.status == "FINISHED"
    folds = client.get_metric_history(made.info.run_id, "fold_accuracy")
    assert [(each.step, each.value) for each in folds] == list(enumerate(own["accuracy"]))
    assert made.data.params["description"] == run.methods["B"] and made.data.params["dataset"] == "iris"
    assert made.data.tags["mfbench.dataset_sha256"] == run.datasets["sha256"][0]
    assert np.isfinite(made.data.metrics["fit_seconds"])
    # A second export adds runs to the same experiment.
    list(log_mlflow(run, uri))
    assert len(client.search_runs([number])) == 8


def test_a_server_that_is_not_there_and_a_missing_package(small_run, monkeypatch):
    run = mfbench.load_run(small_run)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(MfbenchError, match="MLflow does not take the run: ") as caught:
        list(log_mlflow(run, "http://me:secret@127.0.0.1:9"))
    assert "secret" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", None)
    with pytest.raises(UsageError, match=r"pip install 'mfbench\[mlflow\]'"):
        list(log_mlflow(run, None))
