"""A run as runs of MLflow: one for each method and dataset, in an experiment named after the suite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from mfbench.base.text import counted, plain_text
from mfbench.errors import MfbenchError, UsageError
from mfbench.stats.results import Run

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

BATCH = 500
"""The number of metrics in a request; MLflow allows 1000."""
SECONDS = {"select_seconds": "select_wall", "fit_seconds": "fit_wall", "predict_seconds": "predict_wall"}


def log_mlflow(run: Run, uri: str | None) -> Iterator[str]:
    """Log the runs; yield a line on them."""
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError:
        raise UsageError("--to mlflow needs a package: pip install 'mfbench[mlflow]'") from None
    try:
        client = MlflowClient(uri)
        name = f"mfbench {run.meta.name} {run.meta.profile}"
        experiment = client.get_experiment_by_name(name)
        number = experiment.experiment_id if experiment else client.create_experiment(name)
        pairs = run.outcomes[["dataset", "method"]].drop_duplicates()
        for dataset, method in pairs.itertuples(index=False, name=None):
            _log(client, number, run, dataset, method)
    except (MlflowException, OSError) as error:
        raise MfbenchError(f"MLflow does not take the run: {_shown(str(error))}") from error
    yield f"Logged {counted(len(pairs), 'run')} in the experiment {name!r} at {_shown(client.tracking_uri)}."


def _log(client: MlflowClient, experiment: str, run: Run, dataset: str, method: str) -> None:
    """Log the trials of a method on a dataset: each fold as a step, and the means."""
    from mlflow.entities import Metric, Param, RunTag

    trials = run.outcomes[(run.outcomes["dataset"] == dataset) & (run.outcomes["method"] == method)]
    ended = trials[trials["status"] == "ok"]
    scores: dict[str, Any] = {_key(name): ended[name] for name in run.metrics}
    scores |= {name: ended[column] for name, column in SECONDS.items()}
    created = client.create_run(experiment, run_name=f"{method} on {dataset}")
    stamp = created.info.start_time
    metrics = [
        Metric(f"fold_{name}", float(value), stamp, step)
        for name, values in scores.items()
        for step, value in enumerate(values)
        if pd.notna(value)
    ]
    metrics += [Metric(name, float(each.mean()), stamp, 0) for name, each in scores.items() if each.notna().any()]
    metrics.append(Metric("failed_trials", len(trials[trials["status"].notna()]) - len(ended), stamp, 0))
    facts = {
        "dataset": dataset,
        "method": method,
        "description": run.methods[method],
        "suite": run.meta.name,
        "profile": run.meta.profile,
        "seed": run.meta.seed,
    }
    hashes = run.datasets.set_index("dataset")["sha256"]
    tags = {"mfbench.version": run.meta.environment.mfbench, "mfbench.dataset_sha256": hashes[dataset]}
    client.log_batch(
        created.info.run_id,
        params=[Param(name, plain_text(value)) for name, value in facts.items()],
        tags=[RunTag(name, str(value)) for name, value in tags.items()],
    )
    for start in range(0, len(metrics), BATCH):
        client.log_batch(created.info.run_id, metrics=metrics[start : start + BATCH])
    has_failed = bool((trials["status"].notna() & (trials["status"] != "ok")).any())
    status = "FAILED" if has_failed else "FINISHED" if len(ended) == len(trials) else "KILLED"  # by a budget, perhaps
    client.set_terminated(created.info.run_id, status)


def _shown(text: str) -> str:
    """Return a text of the client for display, without user names and passwords in its URLs."""
    return plain_text(re.sub(r"(\w://)[^/@\s]*@", r"\1", text))


def _key(name: str) -> str:
    """Return a metric's name with the characters that MLflow allows."""
    return re.sub(r"[^\w\-. /]+", "_", name, flags=re.ASCII).strip("_")
