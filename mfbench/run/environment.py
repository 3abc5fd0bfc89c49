"""The machine and the software of a run: ``environment.json`` in the run folder."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import psutil

from mfbench.host.registry import Registry
from mfbench.run.checkout import own_commit
from mfbench.run.metadata import Environment

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "xgboost", "pluggy", "psutil", "threadpoolctl")


def available_cpus() -> int:
    """Return the number of processors that this process may use.

    Examples
    --------
    >>> available_cpus() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_memory(jobs: int) -> int:
    """Return the default memory limit of a worker in bytes: an equal share of 80 % of the machine's memory."""
    return int(0.8 * psutil.virtual_memory().total / jobs)


def describe(registry: Registry, jobs: int, memory: int) -> Environment:
    """Return the machine and the software.

    Parameters
    ----------
    registry : Registry
        The loaded plugins.
    jobs : int
        Worker processes.
    memory : int
        Memory limit of each in bytes.
    """
    return Environment(
        mfbench=metadata.version("mfbench"),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        system=platform.platform(),
        cpu=cpu_model(),
        cpus=available_cpus(),
        memory_bytes=int(psutil.virtual_memory().total),
        jobs=jobs,
        threads_per_worker=1,
        memory_limit_bytes=memory,
        libraries={name: _version(name) for name in LIBRARIES},
        plugins=sorted(str(plugin) for plugin in registry.plugins.values()),
        git_commit=own_commit(),
        command=sys.argv,
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux: use the standard library's answer
        pass
    return platform.processor() or platform.machine()
