"""The hooks of this package: the remote pool of an engine, and the shards of a plan."""

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
    """Return the pool of an engine's workers."""
    from mfbench.run.store.metadata import fingerprint_of, sources_of
    from mfbench_cluster.pool.batches import unknown
    from mfbench_cluster.pool.remote import RemotePool

    costs = None if plan.forecast is None else plan.forecast.costs
    cost: Cost = unknown if costs is None else lambda trial: costs.of(trial).seconds
    fingerprint = fingerprint_of(sources_of(plan, registry))
    return RemotePool(engine, fingerprint, cost=cost, patience=options.wait_for_workers)


@hookimpl
def mfbench_part_of_plan(request: Request, plan: Plan, folder: Path, registry: Registry) -> Plan | None:
    """Return the shard that a request selects, by number or by the file of a batch."""
    from mfbench_cluster.batch.slurm import read_shard, shard_in, shard_of

    if isinstance(request.shard, tuple):
        return shard_of(plan, *request.shard, folder.name, registry)
    return None if request.shard is None else shard_in(plan, read_shard(request.shard), folder.name)


@hookimpl
def mfbench_finished(request: Request) -> tuple[str, ExitCode] | None:
    """Skip a batch's shard that is already complete, as is common when a job array is resubmitted."""
    if request.shard is None or isinstance(request.shard, tuple):
        return None
    from mfbench_cluster.batch.slurm import ended_exit_code, read_shard

    file = read_shard(request.shard)
    code = None if request.fresh or request.retry_failed else ended_exit_code(file, request.out)
    return None if code is None else (f"{file.name}: every trial has a result; nothing to do", code)
