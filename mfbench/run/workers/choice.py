"""The choice of an executor: the processes of this machine, or what a plugin registers."""

from __future__ import annotations

from typing import Protocol

from mfbench.engines import Engine, Executor
from mfbench.errors import PluginError
from mfbench.host.executors import make_engine
from mfbench.host.registry import LOCAL, Registry
from mfbench.run.workers.job import Job
from mfbench.run.workers.local import LocalPool
from mfbench.suite.plan import Plan


class Choice(Protocol):
    """The options that name an executor, see `mfbench.run.runner.RunOptions`."""

    @property
    def executor(self) -> str:
        """Its name."""

    @property
    def scheduler(self) -> str:
        """The address of its scheduler, empty for the default."""

    @property
    def wait_for_workers(self) -> float:
        """The seconds for which a run waits for a worker while there is none."""


class PoolHook(Protocol):
    """The hook ``mfbench_pool``, or one implementation of it."""

    def __call__(self, *, engine: Engine, job: Job, plan: Plan, registry: Registry, options: Choice) -> Executor | None:
        """Return what runs the trials of a job on the workers of an engine."""


def open_executor(
    job: Job, plan: Plan, registry: Registry, options: Choice, jobs: int, make_pool: PoolHook | None = None
) -> Executor:
    """Return what runs the trials of a job with a number of worker processes; nothing is started."""
    if options.executor == LOCAL:
        return LocalPool(jobs)
    made = make_engine(registry, options.executor, options.scheduler, jobs)
    if isinstance(made, Executor):
        return made
    if make_pool is not None:
        pool = make_pool(engine=made, job=job, plan=plan, registry=registry, options=options)
        if pool is not None:
            return pool
    raise PluginError(
        f"executor {options.executor!r} needs a pool of remote workers, which the package mfbench_cluster provides"
    )
