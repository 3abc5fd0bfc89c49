"""The choice of an executor: the processes of this machine, or the places of an engine that a plugin registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench.host.executors import make_engine
from mfbench.host.registry import LOCAL, Registry
from mfbench.run.executors.base import Executor
from mfbench.run.executors.batches import Cost, unknown
from mfbench.run.executors.local import LocalPool
from mfbench.run.executors.remote import RemotePool
from mfbench.run.fingerprint import fingerprint_of, sources_of
from mfbench.run.job import Job
from mfbench.suite.plan import Plan

if TYPE_CHECKING:
    from mfbench.run.runner import RunOptions


def open_executor(job: Job, plan: Plan, registry: Registry, options: RunOptions, jobs: int) -> Executor:
    """Return what runs the trials of a job.

    Parameters
    ----------
    job : Job
    plan : Plan
        What the job was made from.
    registry : Registry
    options : RunOptions
    jobs : int
        Number of worker processes.

    Raises
    ------
    UsageError, PluginError
        If there is no such executor, or it cannot be used.
    """
    if options.executor == LOCAL:
        return LocalPool(job, jobs, job.settings.timeout)
    engine = make_engine(registry, options.executor, options.scheduler, jobs)
    costs = None if plan.forecast is None else plan.forecast.costs
    cost: Cost = unknown if costs is None else lambda trial: costs.of(trial).seconds
    fingerprint = fingerprint_of(sources_of(plan, registry))
    return RemotePool(job, engine, fingerprint, cost=cost, patience=options.wait_for_workers)
