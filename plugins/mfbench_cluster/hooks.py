"""The hooks of this package: the remote pool of an engine, and the parts of a plan, which are shards and tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mfbench.host.hookspecs import hookimpl

if TYPE_CHECKING:
    from mfbench.api.request import Request
    from mfbench.engines import Engine
    from mfbench.errors import ExitCode
    from mfbench.host.registry import Registry
    from mfbench.run.runner import RunOptions
    from mfbench.run.workers.job import Job
    from mfbench.suite.plan import Plan
    from mfbench_cluster.pool.batches import Cost
    from mfbench_cluster.pool.remote import RemotePool


@hookimpl
def mfbench_pool(engine: Engine, job: Job, plan: Plan, registry: Registry, options: RunOptions) -> RemotePool:
    """Return the pool of the places of an engine."""
    from mfbench.run.fingerprint import fingerprint_of, sources_of
    from mfbench_cluster.pool.batches import unknown
    from mfbench_cluster.pool.remote import RemotePool

    costs = None if plan.forecast is None else plan.forecast.costs
    cost: Cost = unknown if costs is None else lambda trial: costs.of(trial).seconds
    fingerprint = fingerprint_of(sources_of(plan, registry))
    return RemotePool(engine, fingerprint, cost=cost, patience=options.wait_for_workers)


@hookimpl
def mfbench_part_of_plan(request: Request, plan: Plan, folder: Path, registry: Registry) -> Plan | None:
    """Return the shard or the task of a batch that a request names."""
    from mfbench_cluster.batch.tasks import read_task, task_of
    from mfbench_cluster.shards import shard_of

    if request.shard is not None:
        return shard_of(plan, *request.shard, folder.name, registry)
    return None if request.task is None else task_of(plan, read_task(request.task), folder.name)


@hookimpl
def mfbench_finished(request: Request) -> tuple[str, ExitCode] | None:
    """Return that every trial of a batch's task has a result, which is frequent when an array is submitted again."""
    if request.task is None:
        return None
    from mfbench_cluster.batch.tasks import ended_exit_code, read_task

    task = read_task(request.task)
    code = None if request.fresh or request.retry_failed else ended_exit_code(task, request.out)
    return None if code is None else (f"{task.name}: every trial has a result; nothing to do", code)
