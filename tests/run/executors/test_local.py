"""The local pool: workers that cannot start, and a folder without room for a log."""

import pytest
from small_runs import job_of

from mfbench.errors import RunError
from mfbench.host.registry import load_registry
from mfbench.run.executors.local import LocalPool


def test_workers_that_cannot_start_are_an_error_not_a_wait(prepared, tmp_path):
    plan, _, _ = prepared
    plugins = tuple(load_registry(only=["datasets"]).plugins.values())  # no methods there
    job = job_of(plan, tmp_path / "data", plugins=plugins, log=tmp_path / "log")
    with pytest.raises(RunError, match="the worker processes cannot start"), LocalPool(job, 1, 5.0) as pool:
        list(pool.run(plan.trials))
    assert "unknown" in (tmp_path / "log").read_text()


def test_a_place_without_room_for_a_log_is_worked_in_all_the_same(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data", log=tmp_path / "no" / "such" / "folder" / "log")
    with LocalPool(job, 2, 300.0) as pool:
        results = list(pool.run(plan.trials[:4]))
    assert [result.status for _, result in results] == ["ok"] * 4
    assert {trial.key for trial, _ in results} == {trial.key for trial in plan.trials[:4]}


def test_without_forks_trials_run_as_well(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench.isolation.child.CAN_FORK", False)
    plan, _, _ = prepared
    with LocalPool(job_of(plan, tmp_path / "data", log=tmp_path / "log"), 1, 300.0) as pool:
        results = [result.status for _, result in pool.run(plan.trials[:3])]
    assert results == ["ok"] * 3
