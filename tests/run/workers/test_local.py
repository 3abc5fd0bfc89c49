"""The local pool: workers that cannot start, and a folder without room for a log."""

import sys
import time
from types import SimpleNamespace

import pytest
from small_runs import SUITE, job_of, results_of, started

from mfbench.api import Request, prepare_suite
from mfbench.errors import RunError
from mfbench.host.registry import load_registry
from mfbench.run.forecast.order import Budget, in_rounds
from mfbench.run.workers import local
from mfbench.run.workers.job import owners_of_method
from mfbench.run.workers.local import LocalPool


def test_workers_that_cannot_start_are_an_error_not_a_wait(prepared, tmp_path):
    plan, _, _ = prepared
    plugins = tuple(load_registry(only=["datasets"]).plugins.values())  # no methods there
    job = job_of(plan, tmp_path / "data", plugins=plugins, log=tmp_path / "log")
    with pytest.raises(RunError, match="the worker processes cannot start"), started(LocalPool(1), job) as pool:
        results_of(pool, plan.trials)
    assert "unknown" in (tmp_path / "log").read_text()


def test_a_place_without_room_for_a_log_is_worked_in_all_the_same(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data", log=tmp_path / "no" / "such" / "folder" / "log")
    with started(LocalPool(2), job) as pool:
        results = results_of(pool, plan.trials[:4])
    assert [result.status for _, result in results] == ["ok"] * 4
    assert {trial.key for trial, _ in results} == {trial.key for trial in plan.trials[:4]}


def test_without_forks_trials_run_as_well(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench.processes.child.CAN_FORK", False)
    plan, _, _ = prepared
    with started(LocalPool(1), job_of(plan, tmp_path / "data", log=tmp_path / "log")) as pool:
        results = [result.status for _, result in results_of(pool, plan.trials[:3])]
    assert results == ["ok"] * 3


HANGING = """
import time
from types import SimpleNamespace
from mfbench import ClassifierSpec, hookimpl
from sklearn.dummy import DummyClassifier

class Hangs(DummyClassifier):
    def fit(self, X, y):
        time.sleep(1000)

@hookimpl
def mfbench_classifiers():
    return [ClassifierSpec(name="hangs", summary="Never ends", factory="hanging_plugin:Hangs")]
"""


@pytest.mark.slow(reason="starts the processes of two pools")
def test_a_budget_ends_trials_that_hang_and_starts_no_more(tmp_path, monkeypatch):
    (tmp_path / "hanging_plugin.py").write_text(HANGING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "all,hanging_plugin")
    text = SUITE.replace('label = "D"\nclassifier = "knn"', 'label = "D"\nclassifier = "hangs"')
    (tmp_path / "own.toml").write_text(text)
    plan, _, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / "out"))
    owners = {label: owners_of_method(method, registry) for label, method in plan.methods.items()}
    plugins = tuple(registry.plugins.values())
    job = job_of(plan, tmp_path / "data", owners=owners, plugins=plugins, path=tuple(sys.path))
    results = []
    followed = set()
    budget = Budget(600.0, cells=4)

    def follow(running):
        followed.update(trial.method for trial, seconds in running if seconds > 0.2)

    with started(LocalPool(2), job, budget=budget, follow=follow) as pool:
        pool.submit(in_rounds(plan.trials, ()))
        for trial, result in pool.collect():
            results.append((trial, result))
            if len(results) == 9:  # all that do not hang
                budget.deadline = time.monotonic() + 0.5
    assert {(trial.method, result.status) for trial, result in results} == {(method, "ok") for method in "ABC"}
    assert "D" in followed, "no trial ends any more, and the pool still tells what runs"
    assert time.monotonic() < budget.deadline + 60, "the seconds only tell a hung pool from a busy machine"


def test_a_budget_that_is_over_starts_nothing(prepared, tmp_path):
    plan, _, _ = prepared
    with started(LocalPool(1), job_of(plan, tmp_path / "data"), budget=Budget(0.0)) as pool:
        assert results_of(pool, plan.trials) == []


class Slow:
    """A place whose monitor is still importing: it takes all the patience that it is given."""

    def __init__(self, clock):
        self.clock, self.given = clock, []

    def close(self):
        pass

    def join(self, patience):
        self.given.append(patience)
        self.clock.now += patience or 0.0


@pytest.mark.parametrize(("budget", "given"), [(None, [None, None]), (Budget(600.0), [1.0, 0.0])])
def test_with_a_budget_all_slots_together_are_waited_for_no_longer_than_a_second(monkeypatch, budget, given):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(local.time, "monotonic", lambda: clock.now)
    pool = LocalPool(2)
    pool.budget = budget
    pool._slots = [Slow(clock), Slow(clock)]
    pool.close()
    assert [place.given for place in pool._slots] == [[patience] for patience in given]
