"""The local pool: order, sharing and what happens when workers cannot work."""

import os
from collections import deque

import pytest
from small_runs import job_of

from mfbench.errors import RunError
from mfbench.run import executors
from mfbench.run.executors import LocalPool
from mfbench.trials import TrialResult


def test_trials_of_one_selector_and_fold_form_a_group(prepared, tmp_path):
    plan, _, _ = prepared
    groups = [[(t.method, t.fold) for t in group] for group in executors._groups(plan.trials, job_of(plan, tmp_path))]
    assert groups[:3] == [[("A", 0), ("B", 0)], [("C", 0)], [("D", 0)]]
    assert sum(len(group) for group in groups) == len(plan.trials)


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


def test_processes_do_not_search_the_working_directory_for_modules(prepared, tmp_path, monkeypatch):
    plan, _, _ = prepared
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with LocalPool(job_of(plan, tmp_path / "data"), 1, 30.0):
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.parametrize(
    ("code", "words"), [(-11, "SIGSEGV"), (-9, "out of memory"), (3, "exit code 3"), (-250, "250")]
)
def test_how_a_worker_ended_is_told(code, words):
    assert words in executors._describe_exit(code)
