"""A run as OpenML runs: a folder for each method and OpenML task, which OpenML's client reads and publishes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openml
import requests
from openml.runs.functions import format_prediction

from mfbench.base.text import counted, plain_text
from mfbench.errors import DataUnavailableError, RunError, UsageError
from mfbench.stats.results import Run

_TASK = re.compile(r"; splits of task (\d+)(?:, the first of (\d+) repeats)?\Z")
"""The end of a dataset's source if its reference is ``openml-task:NUMBER``."""


def write_openml(run: Run, folder: Path) -> Iterator[str]:
    """Write the runs; yield lines on what was written and what was left out."""
    tasks, left_out = _tasks(run)
    if not tasks:
        raise UsageError(
            "OpenML takes results on the splits of its own tasks, and this run has none: name datasets like "
            f"openml-task:59 in the suite, and no other splitter ({'; '.join(left_out)})"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder: name another with --output")
    failed = set(run.failures[["dataset", "method"]].itertuples(index=False, name=None))
    ended = run.scores.set_index(["dataset", "method"])["complete"]
    number = 0
    for dataset, task in tasks.items():
        asked = _asked(task)
        for place, method in enumerate(run.methods, 1):
            if (dataset, method) in failed or not ended.get((dataset, method), False):
                left_out.append(f"{method} on {dataset}: not all of its trials succeeded")
                continue
            target = folder / f"task-{task}" / f"{place:02}-{_slug(method)}"
            _run(run, dataset, method, task, asked).to_filesystem(target, store_model=False)
            number += 1
    yield f"Wrote {counted(number, 'OpenML run')} to {folder}."
    yield from (f"Left out: {sentence}." for sentence in left_out)
    yield "To publish one: openml.runs.OpenMLRun.from_filesystem(FOLDER, expect_model=False).publish()"


def _tasks(run: Run) -> tuple[dict[str, int], list[str]]:
    """Return the OpenML task of each dataset that has one, and why other datasets are left out."""
    tasks, left_out = {}, []
    is_split = run.protocol.splitter is not None and run.protocol.splitter.partition("(")[0] == "predefined"
    for dataset, source in run.datasets.set_index("dataset")["source"].items():
        task = _TASK.search(source)
        if task is None:
            left_out.append(f"{dataset}: not a task of OpenML")
        elif not is_split:
            left_out.append(f"{dataset}: the splits of this run are not those of the task")
        elif task[2]:
            left_out.append(f"{dataset}: the run has the first of the task's {task[2]} repeats")
        else:
            tasks[str(dataset)] = int(task[1])
    return tasks, left_out


def _asked(number: int) -> openml.tasks.OpenMLClassificationTask:
    """Return a task, from the cache of OpenML's client or its server."""
    try:
        task = openml.tasks.get_task(number, download_splits=False, download_data=False, download_qualities=False)
    except (requests.RequestException, openml.exceptions.PyOpenMLError, OSError) as error:
        raise DataUnavailableError(
            f"OpenML task {number} cannot be obtained: {plain_text(error)}",
            "its labels are needed, so try again online",
        ) from error
    if not isinstance(task, openml.tasks.OpenMLClassificationTask):
        raise RunError(f"OpenML task {number} is not a classification")
    return task


def _run(
    run: Run, dataset: str, method: str, number: int, task: openml.tasks.OpenMLClassificationTask
) -> openml.runs.OpenMLRun:
    """Return the OpenML run of a method on a task."""
    classes = list(run.datasets.set_index("dataset")["classes"][dataset])
    if not set(classes) <= set(task.class_labels or ()):
        raise RunError(f"the classes of {dataset} here and of OpenML task {number} differ")
    rows = []
    for repeat, fold, row, truth, guess in run.predictions(dataset, method).itertuples(index=False, name=None):
        certain = {label: float(label == classes[guess]) for label in task.class_labels or ()}
        rows.append(format_prediction(task, repeat, fold, row, classes[guess], classes[truth], proba=certain))
    version = run.meta.environment.mfbench
    flow = openml.OpenMLFlow(
        # OpenML identifies a flow by its name and version, so the name depends on the method, not only on its label.
        name=f"mfbench.{_slug(method)}-{hashlib.sha256(run.methods[method].encode()).hexdigest()[:8]}",
        description=f"{run.meta.display_names[method]}: {run.methods[method]}",
        model=None,
        components={},
        parameters={},
        parameters_meta_info={},
        external_version=f"mfbench=={version}",
        tags=["mfbench"],
        language="English",
        dependencies="\n".join(
            f"{name}=={number}" for name, number in run.meta.environment.libraries.items() if number
        ),
    )
    return openml.runs.OpenMLRun(
        task_id=number,
        flow_id=None,
        dataset_id=task.dataset_id,
        data_content=rows,
        parameter_settings=[],
        fold_evaluations=_evaluations(run, dataset, method),
        model=method,  # the client asks for one; it is not written
        flow=flow,
        tags=["mfbench"],
        description_text=f"{run.meta.title}, mfbench {version}",
    )


def _evaluations(run: Run, dataset: str, method: str) -> dict[str, dict[int, dict[int, float]]]:
    """Return accuracy and processor times of each fold by OpenML's names."""
    trials = run.outcomes
    own = trials[(trials["dataset"] == dataset) & (trials["method"] == method)].set_index("fold")
    columns: dict[str, Any] = {
        "usercpu_time_millis_training": 1000 * (own["select_cpu"] + own["fit_cpu"]),
        "usercpu_time_millis_testing": 1000 * own["predict_cpu"],
    }
    if "accuracy" in own:
        columns["predictive_accuracy"] = own["accuracy"]
    return {name: {0: {int(fold): float(value) for fold, value in values.items()}} for name, values in columns.items()}


def _slug(label: str) -> str:
    """Return a label as a file name that OpenML accepts as the name of a flow."""
    return re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-")[:60] or "method"
