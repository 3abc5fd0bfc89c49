"""Process setup: output, native threads, memory limit, and termination with the parent."""

import contextlib
import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from mfbench.errors import UsageError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_IS_LINUX = sys.platform.startswith("linux")
# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def redirect_to(path: Path) -> None:
    """Append all output of this process and its native libraries to a file; detach standard input."""
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
    """Limit allocations, so that a greedy trial raises MemoryError before the machine runs out of memory."""
    # The hard limit is lowered too, so that the process cannot raise it again.
    if not limit or not _IS_LINUX:
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def has_limited_addresses() -> bool:
    """Return whether the address space of this process is limited, for instance by ``ulimit -v``."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, even if it hangs in compiled code (Linux)."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants, so that none escapes (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process (Linux)."""
    if not _IS_LINUX:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def describe_exit(code: int) -> str:
    """Describe how a process ended, as the end of a sentence."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"


NUMBA_SETTINGS = ".numba_config.yaml"


def check_working_directory() -> None:
    """Refuse a working directory that configures numba."""
    # numba reads this file whenever it compiles a function. The file can change results, and with `cache_dir` it makes
    # numba unpickle objects from any folder.
    if Path(NUMBA_SETTINGS).exists():
        raise UsageError(
            f"the working directory contains {NUMBA_SETTINGS}, which can change results and make numba execute code: "
            "run mfbench in another directory, or set environment variables such as NUMBA_CPU_NAME instead"
        )


_ROOT = Path("/")


def available_memory(root: Path = _ROOT) -> int:
    """Return the bytes of memory available to this process and its children together."""
    # This is the machine's memory, or a lower limit set by a Linux control group, as in containers and batch systems.
    # Beyond it the kernel kills processes of its own choice.
    texts = [_text(folder / name).strip() for folder, name in _groups(root)]
    limits = [int(text) for text in texts if text.isdecimal() and int(text) > 0]  # "max" means none
    return min([int(psutil.virtual_memory().total), *limits])


def _groups(root: Path) -> list[tuple[Path, str]]:
    """Return this process's control group folders up to their roots, each with the name of its limit file."""
    mounted = root / "sys/fs/cgroup"
    groups = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:  # version 2
            base, name = mounted, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = mounted / "memory", "memory.limit_in_bytes"
        else:
            continue
        # In a container the path may refer to the host, which is not mounted; the root's limit applies anyway.
        parts = [part for part in path.split("/") if part not in ("", "..")]
        groups += [(base.joinpath(*parts[:depth]), name) for depth in range(len(parts) + 1)]
    return groups


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # not Linux, or not mounted: no limit to read
        return ""


_PROC = Path("/proc")
_ANON_AND_SHARED = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+)", re.MULTILINE)
_PROPORTIONAL = re.compile(rb"^Pss_(?:Anon|Shmem):\s+(\d+)", re.MULTILINE)
# Seconds to wait for processes that the kernel does not kill at once, for instance during disk I/O.
_PATIENCE = 5.0


def own_memory(pid: int) -> int:
    """Return the private and shared memory of a process in bytes, without mapped files."""
    # Where the system does not report these (macOS, Windows), the resident part of mapped files counts too.
    if not _PROC.is_dir():
        try:
            return int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:  # it has exited, or belongs to another user
            return 0
    return _sum_of(_ANON_AND_SHARED, pid, "status")


def memory_of(pids: Iterable[int], limit: int) -> int:
    """Return the memory of several processes in bytes; if the sum exceeds `limit`, shared pages count once."""
    pids = list(pids)
    total = sum(map(own_memory, pids))
    if total > limit and len(pids) > 1:
        proportional = sum(_sum_of(_PROPORTIONAL, pid, "smaps_rollup") for pid in pids)
        total = proportional or total  # 0: an older kernel does not report it
    return total


def _sum_of(pattern: re.Pattern[bytes], pid: int, name: str) -> int:
    try:
        text = (_PROC / str(pid) / name).read_bytes()
    except OSError:  # it has exited, or the system has no such file
        return 0
    return 1024 * sum(map(int, pattern.findall(text)))


def descendants(pid: int | None = None) -> list[int]:
    """Return the descendants of a process, by default of this one; empty if it has exited."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def has_children() -> bool:
    """Return whether this process has children, running or not yet reaped. It costs one system call."""
    if not hasattr(os, "waitid"):  # macOS, Windows
        return bool(psutil.Process().children())
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def end_descendants(signal_number: int) -> None:
    """Kill all descendants of this process and wait for them."""
    # In a process that adopts orphans (`mfbench.processes.process.adopt_orphans`) none escapes: a descendant's orphans,
    # in any session or process group, become children of this process and are killed in turn.
    end = time.monotonic() + _PATIENCE
    while reap() and time.monotonic() < end:
        for pid in descendants():
            with contextlib.suppress(OSError):  # exited in the meantime
                os.kill(pid, signal_number)
        time.sleep(0.001)


def reap() -> bool:
    """Reap the children that have exited; return whether any are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
