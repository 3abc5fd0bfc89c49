"""The local pool: order, sharing and what happens when workers cannot work."""

from collections import deque
from pathlib import Path

import pytest

from mfbench.api import prepare_suite
from mfbench.data.prepare import Columns
from mfbench.errors import RunError
from mfbench.report.progress import Silent
from mfbench.run import executors
from mfbench.run.executors import LocalPool
from mfbench.run.job import Job, write_arrays
from mfbench.run.runner import RunOptions, execute, protocol_key
from mfbench.run.worker import Worker
from mfbench.trials import Status, Trial, TrialResult

SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = 1
[profiles.quick]
folds = 3
[[datasets]]
use = ["iris"]
[[methods]]
label = "A"
selector = "anova-f"
classifier = "knn"
top = 1
[[methods]]
label = "B"
selector = "anova-f"
classifier = "naive-bayes"
top = 2
[[methods]]
label = "C"
selector = "variance"
classifier = "knn"
[[methods]]
label = "D"
classifier = "knn"
"""


@pytest.fixture
def prepared(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(SUITE)
    return prepare_suite(str(path), out=tmp_path / "out")


def job_of(plan, folder: Path, **changes) -> Job:
    folder.mkdir(exist_ok=True)
    for planned in plan.datasets.values():
        write_arrays(planned, folder, planned.label)
    values = {
        "methods": plan.methods,
        "datasets": {label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        "files": {label: label for label in plan.datasets},
        "data_folder": folder,
        "protocol": plan.protocol,
        "settings": plan.loaded.protocol,
    }
    return Job(**{**values, **changes})


def test_trials_of_one_selector_and_fold_form_a_group(prepared, tmp_path):
    plan, _, _ = prepared
    groups = [[(t.method, t.fold) for t in group] for group in executors._groups(plan.trials, job_of(plan, tmp_path))]
    assert groups[:3] == [[("A", 0), ("B", 0)], [("C", 0)], [("D", 0)]]
    assert sum(len(group) for group in groups) == len(plan.trials)


def test_the_fit_of_the_first_is_handed_to_the_others(prepared, tmp_path):
    plan, _, registry = prepared
    first, second = (next(t for t in plan.trials if t.method == label and t.fold == 0) for label in "AB")
    job = job_of(plan, tmp_path)
    _, shared = Worker(job, registry).run(first, {})
    assert len(shared) == 1
    # Another worker that has never fitted the selector must use what it is given: mark it to see that it does.
    key, selection = next(iter(shared.items()))
    marked = {key: type(selection)(selection.weights[::-1], selection.column_weights[::-1], 123.0, 4.0)}
    result, exported = Worker(job, registry).run(second, marked)
    assert result.select_wall == 123.0 and exported == {}
    assert result.weights.tolist() == selection.weights[::-1].tolist()


class _FakePool(LocalPool):
    """The pool's order of work without processes: what `leaves` says is what each trial leaves behind."""

    def __init__(self, job, leaves):
        super().__init__(job, 2, 1.0)
        self.leaves, self.flying, self.seen = leaves, deque(), []

    def _submit(self, trial, shared, done):
        self.seen.append((trial.method, bool(shared)))
        token = object()
        self.flying.append((token, trial))
        return token

    def _next(self, done):
        self.current = self.flying.popleft()
        return self.current[0]

    def _collect(self, future, trial):
        return TrialResult(key=trial.key), self.leaves.get(trial.method, {})


def test_when_the_first_of_a_group_is_killed_the_next_one_leads(prepared, tmp_path):
    plan, _, _ = prepared
    trials = [t for t in plan.trials if t.fold == 0 and t.method in "AB"]
    killed = _FakePool(job_of(plan, tmp_path), {})
    assert len(list(killed.run(trials))) == 2
    assert killed.seen == [("A", False), ("B", False)]
    fine = _FakePool(job_of(plan, tmp_path), {"A": {(-1, "x"): None}})
    assert len(list(fine.run(trials))) == 2
    assert fine.seen == [("A", False), ("B", True)]


def test_workers_that_cannot_start_are_an_error_not_a_wait(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data", plugins="datasets", log=tmp_path / "log")  # no methods there
    with pytest.raises(RunError, match="the worker processes cannot start"), LocalPool(job, 1, 5.0) as pool:
        list(pool.run(plan.trials))


def test_a_place_without_room_for_a_log_is_worked_in_all_the_same(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data", log=tmp_path / "no" / "such" / "folder" / "log")
    with LocalPool(job, 1, 30.0) as pool:
        results = [result.status for _, result in pool.run(plan.trials[:3])]
    assert results == ["ok"] * 3


@pytest.mark.parametrize(
    ("code", "words"), [(-11, "SIGSEGV"), (-9, "out of memory"), (3, "exit code 3"), (-250, "250")]
)
def test_how_a_worker_ended_is_told(code, words):
    assert words in executors._describe_exit(code)


def test_a_run_removes_its_work_files_and_records_what_it_needs(prepared):
    plan, folder, registry = prepared
    told = []

    class Watch(Silent):
        def finished(self, trial: Trial, result: TrialResult) -> None:
            told.append((trial.key, result.status))

    progress = execute(plan, folder, registry, RunOptions(jobs=1), Watch())
    assert progress.executed == len(plan.trials) == len(told)
    assert {status for _, status in told} == {Status.OK}
    assert not (folder / ".work").exists()
    assert (folder / "environment.json").is_file()
    again = execute(plan, folder, registry, RunOptions(jobs=1), Watch())
    assert (again.resumed, again.executed) == (len(plan.trials), 0)
    assert protocol_key(plan) == "repeated-cv:3:0"
    fresh = execute(plan, folder, registry, RunOptions(jobs=1, fresh=True), Watch())
    assert (fresh.resumed, fresh.executed) == (0, len(plan.trials))
