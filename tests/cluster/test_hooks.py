"""The hooks: the pool of an engine with the costs of the plan, and the part of a plan that a request asks for."""

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_runs import results_of, started

sys.path.insert(0, str(Path(__file__).parent))
from fake import FakeWorker, StubPool, ThreadEngine, job_of, trials_of

from mfbench.api.request import Request
from mfbench.errors import ExitCode
from mfbench.host.registry import load_registry
from mfbench.suite.plan import Cost
from mfbench_cluster import service
from mfbench_cluster.array_cache import ArrayCache
from mfbench_cluster.batch import slurm
from mfbench_cluster.hooks import mfbench_finished, mfbench_part_of_plan, mfbench_pool
from mfbench_cluster.pool.remote import RemotePool
from mfbench_cluster.service import WorkerService


def pool_of(engine, job, plan):
    options = SimpleNamespace(executor="threads", scheduler="", wait_for_workers=7.0)
    return mfbench_pool(engine=engine, job=job, plan=plan, registry=load_registry(only=()), options=options)


@pytest.fixture
def plan():
    loaded = SimpleNamespace(protocol=SimpleNamespace(kind="repeated-cv", metrics=[]))
    return SimpleNamespace(methods={}, datasets={}, forecast=None, loaded=loaded)


def test_trials_run_at_the_workers_of_an_engine(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(service, "LocalPool", StubPool)
    engine, job = (
        ThreadEngine({"p": FakeWorker(WorkerService(ArrayCache(tmp_path / "cache")))}),
        job_of(tmp_path / "data"),
    )
    pool = pool_of(engine, job, plan)
    assert isinstance(pool, RemotePool)
    with started(pool, job):
        assert len(results_of(pool, trials_of(5))) == 5 and len(pool.machines) == 1
    assert not engine._is_open


def test_costs_are_those_of_the_plan(plan, tmp_path):
    (trial,) = trials_of(1)
    assert math.isnan(pool_of(None, None, plan)._cost(trial))
    plan.forecast = SimpleNamespace(costs=SimpleNamespace(of=lambda trial: Cost(3.0, 0)))
    assert pool_of(None, None, plan)._cost(trial) == 3.0


def test_the_engine_learns_of_the_error_that_ends_a_run(plan, tmp_path):
    left = []

    class Leaving(ThreadEngine):
        def __exit__(self, *error):
            left.append(error)

    job = job_of(tmp_path / "data")
    with pytest.raises(KeyboardInterrupt), started(pool_of(Leaving({}), job, plan), job):
        raise KeyboardInterrupt
    assert left[0][0] is KeyboardInterrupt
    with started(pool_of(Leaving({}), job, plan), job):
        pass
    assert left[1] == (None, None, None)


def test_the_part_of_a_plan_is_that_of_the_request(prepared, monkeypatch):
    plan, folder, registry = prepared
    monkeypatch.setattr(slurm, "read_shard", lambda path: path)
    monkeypatch.setattr(slurm, "shard_in", lambda plan, file, run: (file, run))
    shard, file, whole = (
        mfbench_part_of_plan(request=Request("own", **options), plan=plan, folder=folder, registry=registry)
        for options in ({"shard": "2/3"}, {"shard": "1.json"}, {})
    )
    assert (shard.shard.number, shard.shard.of) == (2, 3)
    assert file == (Path("1.json"), folder.name) and whole is None


def test_a_shard_is_finished_unless_it_is_to_run_again(monkeypatch):
    monkeypatch.setattr(slurm, "read_shard", lambda path: SimpleNamespace(name="shard 1 of 2"))
    monkeypatch.setattr(slurm, "ended_exit_code", lambda file, out: ExitCode.FAILED)
    line = "shard 1 of 2: every trial has a result; nothing to do"
    assert mfbench_finished(request=Request("own", shard="1.json")) == (line, ExitCode.FAILED)
    for options in (
        {},
        {"shard": "1.json", "fresh": True},
        {"shard": "1.json", "retry_failed": True},
        {"shard": "1/2"},
    ):
        assert mfbench_finished(request=Request("own", **options)) is None
