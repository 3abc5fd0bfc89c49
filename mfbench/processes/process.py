"""Setting up a process: its output, its native threads, its memory limit, and its end if its parent ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_IS_LINUX = sys.platform.startswith("linux")
# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def redirect_to(path: Path) -> None:
    """Append all output of this process and its libraries to a file, and let them read nothing."""
    try:
        target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, source in enumerate((nothing, target, target)):
        os.dup2(source, descriptor)
    os.close(nothing)
    os.close(target)


def limit_memory(limit: int) -> None:
    """Make allocations beyond a limit fail, so that a greedy trial raises MemoryError before the machine runs out."""
    # The hard limit is lowered too, so that the process cannot raise it again.
    if not limit or not _IS_LINUX:
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def has_limited_addresses() -> bool:
    """Tell whether the address space of this process is limited, as ``ulimit -v`` does."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def end_with_parent() -> None:
    """Make the system end this process when its parent ends, even if it hangs in compiled code (Linux)."""
    if _IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the parent of each descendant that loses its own, so that none escapes (Linux)."""
    if _IS_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def describe_exit(code: int) -> str:
    """Return how a process ended, as the end of a sentence."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
