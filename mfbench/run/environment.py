"""The machine and software of a run: ``environment.json`` in the run folder."""

import platform
import re
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import joblib
import psutil

from mfbench.base.git import GitError, run_git
from mfbench.host.registry import Registry
from mfbench.processes.process import available_memory
from mfbench.run.store.metadata import Environment


def own_commit(folder: Path = Path(__file__).parents[2]) -> str | None:
    """Return the commit of the checkout that mfbench runs from; None if it is installed, or Git is not."""
    # The working directory and folders above mfbench's own have no influence. Uncommitted changes are not recorded; the
    # hashes in the trial keys identify the code that ran.
    if not is_mfbench(folder) or not (folder / ".git").exists():
        return None
    try:
        top, commit = run_git(folder, "rev-parse", "--show-toplevel", "HEAD").splitlines()
    except GitError:
        return None
    return commit if folder.samefile(top) else None


def is_mfbench(folder: Path) -> bool:
    """Return whether this is mfbench's own checkout rather than a project that contains a copy of the package."""
    project = folder / "pyproject.toml"
    return project.is_file() and re.search('^name = "mfbench"$', project.read_text("utf-8"), re.MULTILINE) is not None


LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "xgboost", "pluggy", "psutil", "threadpoolctl")


def available_cpus() -> int:
    """Return the number of processors available to this process within the limits of a container or batch system."""
    return int(joblib.cpu_count())


def default_memory(jobs: int) -> int:
    """Return the default memory limit of a worker in bytes: an equal share of 80 % of the available memory."""
    return int(0.8 * available_memory() / jobs)


def kind_of_machine() -> str:
    """Return processor, number of processors and system; times are comparable only between equal kinds of machine."""
    return f"{cpu_model()} × {available_cpus()}, {platform.system()}"


def memory_limit(gibibytes: float, jobs: int) -> int:
    """Return the memory limit of a worker in bytes."""
    return int(gibibytes * 2**30) or default_memory(jobs)


def describe(registry: Registry, jobs: int, memory: int, executor: str = "local") -> Environment:
    """Describe the machine and software."""
    return Environment(
        mfbench=metadata.version("mfbench"),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        system=platform.platform(),
        cpu=cpu_model(),
        cpus=available_cpus(),
        memory_bytes=int(psutil.virtual_memory().total),
        jobs=jobs,
        executor=executor,
        threads_per_worker=1,
        memory_limit_bytes=memory,
        libraries={name: _version(name) for name in LIBRARIES},
        plugins=sorted(str(plugin) for plugin in registry.plugins.values()),
        git_commit=own_commit(),
        command=[Path(sys.argv[0]).name, *sys.argv[1:]],  # without the program's folder
        date=datetime.now(UTC).date().isoformat(),
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux: use the standard library
        pass
    return platform.processor() or platform.machine()
