"""Runs for OpenML, read again by its client."""

from dataclasses import replace

import numpy as np
import openml
import pytest
from openml.tasks import OpenMLClassificationTask, TaskType
from small_runs import SUITE

import mfbench
from mfbench.api import Request, prepare_suite
from mfbench.data import repositories
from mfbench.errors import MfbenchError, RunError, UsageError
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute
from mfbench_export.openml_runs import write_openml

LABELS = ["virginica", "setosa", "versicolor"]


@pytest.fixture
def make_run(in_process, tmp_path, monkeypatch):
    """Return a function that runs the suite of `small_runs` on iris as OpenML task 59, with the task's splits."""

    def make(end="", splitter="predefined", suite=SUITE):
        monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / f"cache{splitter}{len(end)}"))
        iris = mfbench.load_dataset("iris")
        data = replace(
            iris,
            name="openml-task:59",
            split=np.arange(iris.n_samples) % 3,
            source=f"OpenML dataset 61; splits of task 59{end}",
        )
        card = {"license": "x", "citation": "x", "source": data.source}
        monkeypatch.setattr(repositories, "load_openml_task", lambda *args, **kwargs: (data, card))
        chosen = f'[protocol]\nsplitter = "{splitter}"\n' if splitter else "[protocol]\n"
        text = suite.replace('"iris"', '"openml-task:59"').replace("[protocol]\n", chosen)
        (tmp_path / "own.toml").write_text(text)
        plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / "out"))
        execute(plan, folder, registry, RunOptions(jobs=1), Silent())
        return mfbench.load_run(folder)

    return make


@pytest.fixture
def answer(monkeypatch):
    """Return a function that makes OpenML's client answer with task 59, or with an error."""

    def serve(labels=LABELS, error=None):
        def get_task(number, **options):
            if error is not None:
                raise error
            return OpenMLClassificationTask(
                TaskType.SUPERVISED_CLASSIFICATION, "classification", 61, "class", task_id=number, class_labels=labels
            )

        monkeypatch.setattr(openml.tasks, "get_task", get_task)
        monkeypatch.setattr("openml.runs.run.get_task", get_task)

    return serve


def test_the_client_reads_what_was_predicted(make_run, answer, tmp_path):
    run = make_run()
    answer()
    lines = list(write_openml(run, tmp_path / "openml"))
    assert lines[0] == f"Wrote 4 OpenML runs to {tmp_path / 'openml'}."
    made = openml.runs.OpenMLRun.from_filesystem(tmp_path / "openml" / "task-59" / "02-B", expect_model=False)
    assert made.task_id == 59
    assert made.flow.name.startswith("mfbench.B-")
    assert made.flow.external_version == f"mfbench=={run.meta.environment.mfbench}"
    assert "anova-f" in made.flow.description
    predictions = run.predictions("openml-task:59", "B")
    names = np.array(list(run.datasets["classes"][0]))
    rows = list(zip(*made.data_content, strict=True))
    assert list(map(int, rows[1])) == predictions["fold"].tolist()
    assert list(map(int, rows[3])) == predictions["row"].tolist()
    assert list(rows[4]) == names[predictions["prediction"]].tolist()
    assert list(rows[5]) == names[predictions["truth"]].tolist()
    # In the order of the task's labels.
    assert [LABELS[int(np.argmax(pair))] for pair in zip(*rows[6:], strict=True)] == list(rows[4])
    folds = run.trials[run.trials["method"] == "B"]["accuracy"].tolist()
    assert list(made.fold_evaluations["predictive_accuracy"][0].values()) == pytest.approx(folds)
    assert not list((tmp_path / "openml").rglob("*.pkl"))
    with pytest.raises(UsageError, match="is not an empty folder"):
        list(write_openml(run, tmp_path / "openml"))


def test_other_splits_are_not_those_of_the_task(make_run, tmp_path):
    for run, reason in [
        (make_run(splitter="stratified"), "the splits of this run are not those of the task"),
        (make_run(end=", the first of 10 repeats"), "the run has the first of the task's 10 repeats"),
    ]:
        with pytest.raises(UsageError, match=reason):
            list(write_openml(run, tmp_path / "openml"))


def test_what_the_server_says(make_run, answer, tmp_path):
    run = make_run()
    answer(labels=["a", "b"])
    with pytest.raises(RunError, match="the classes of openml-task:59 here and of OpenML task 59 differ"):
        list(write_openml(run, tmp_path / "openml"))
    answer(error=openml.exceptions.OpenMLServerException("Unknown task", code=151))
    with pytest.raises(MfbenchError, match=r"OpenML task 59 cannot be obtained: .*Unknown task"):
        list(write_openml(run, tmp_path / "openml"))


def test_labels_that_differ_in_signs_only(make_run, answer, tmp_path):
    run = make_run(suite=SUITE.replace('label = "B"', 'label = "A ("').replace('label = "C"', 'label = "C/../.."'))
    answer()
    list(write_openml(run, tmp_path / "openml"))
    folders = [path.name for path in (tmp_path / "openml" / "task-59").iterdir()]
    assert sorted(folders) == ["01-A", "02-A", "03-C", "04-D"]
    names = [openml.OpenMLFlow.from_filesystem(tmp_path / "openml" / "task-59" / name).name for name in folders]
    assert len(set(names)) == 4


def test_a_method_that_failed_is_left_out(make_run, answer, tmp_path):
    run = make_run(suite=f'{SUITE}[[methods]]\nlabel = "E"\nselector = "anova-f"\nclassifier = "knn"\ntop = 99\n')
    answer()
    lines = list(write_openml(run, tmp_path / "openml"))
    failed = set(run.failures["method"])
    assert len([line for line in lines if line.startswith("Left out: ")]) == len(failed)
