"""The hooks of this package: a pool of remote workers is the executor that is made of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench.host.hookspecs import hookimpl

if TYPE_CHECKING:
    from mfbench.engines import Engine
    from mfbench.host.registry import Registry
    from mfbench.run.workers.choice import Choice
    from mfbench.run.workers.job import Job
    from mfbench.suite.plan import Plan
    from mfbench_cluster.pool.batches import Cost
    from mfbench_cluster.pool.remote import RemotePool


@hookimpl
def mfbench_pool(engine: Engine, job: Job, plan: Plan, registry: Registry, options: Choice) -> RemotePool:
    """Return the pool of the places of an engine."""
    from mfbench.run.fingerprint import fingerprint_of, sources_of
    from mfbench_cluster.pool.batches import unknown
    from mfbench_cluster.pool.remote import RemotePool

    costs = None if plan.forecast is None else plan.forecast.costs
    cost: Cost = unknown if costs is None else lambda trial: costs.of(trial).seconds
    fingerprint = fingerprint_of(sources_of(plan, registry))
    return RemotePool(engine, fingerprint, cost=cost, patience=options.wait_for_workers)
