"""Setting up a worker process: signals, threads, output, memory limit, and its end if the main process dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

import threadpoolctl

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PID_PREFIX = "worker-"
LOG_VARIABLE = "MFBENCH_WORKER_LOG"


def set_up_process(folder: Path, log: Path | None) -> None:
    """Make this process a worker.

    Parameters
    ----------
    folder : Path
        Gets a file named after the process, so that the main process can end the children of a dead worker.
    log : Path or None
        File for everything that is printed from now on; None leaves it on the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which stops the pool
    _lead_a_group(folder)
    _die_with_parent()
    redirect_output(log)
    _treat_exit_as_crash()
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    threadpoolctl.threadpool_limits(1)


def _lead_a_group(folder: Path) -> None:
    """Make this process the head of a process group and record its number, so that its children can be ended too."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        (folder / f"{PID_PREFIX}{os.getpid()}").touch()


def _treat_exit_as_crash() -> None:
    """Make ``os._exit(0)`` in a method a crash: the pool mistakes a worker that exits with code 0 for a busy one."""
    exit_process, worker = os._exit, os.getpid()

    def exit_with_failure(status: int) -> NoReturn:
        exit_process(status or 1 if os.getpid() == worker else status)

    os._exit = exit_with_failure


def _die_with_parent() -> None:
    """End this process when the main process is gone, even in the middle of a trial that hangs."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="mfbench-parent-watch", daemon=True).start()


def redirect_output(log: Path | None) -> None:
    """Append everything that this process and its libraries print to a file; None changes nothing."""
    if log is None:
        return
    try:
        sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:  # without room for a log, results can still be computed
        sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)


def limit_memory(limit: int) -> None:
    """Make allocations beyond a limit fail, so that a greedy trial raises MemoryError before the machine runs out.

    Parameters
    ----------
    limit : int
        Bytes of the data segment; 0 for no limit. Only Linux enforces it.
    """
    if not limit or not sys.platform.startswith("linux"):
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
