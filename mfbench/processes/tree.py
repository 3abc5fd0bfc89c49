"""The processes below this one: how much memory they use, and how all of them are ended."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

_PROC = Path("/proc")
_ANON_AND_SHARED = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+)", re.MULTILINE)
_PROPORTIONAL = re.compile(rb"^Pss_(?:Anon|Shmem):\s+(\d+)", re.MULTILINE)
# A process that the kernel does not end at once, such as one that waits for a disk, is not waited for any longer.
_PATIENCE = 5.0


def own_memory(pid: int) -> int:
    """Return the bytes of private and shared memory that a process has touched, without the files that it maps."""
    # A system that does not list them (macOS, Windows) counts the resident part of mapped files too.
    if not _PROC.is_dir():
        try:
            return int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:  # it has ended, or belongs to somebody else
            return 0
    return _sum_of(_ANON_AND_SHARED, pid, "status")


def memory_of(pids: Iterable[int], limit: int) -> int:
    """Return the bytes of memory of several processes; what they share is counted once if that decides."""
    pids = list(pids)
    total = sum(map(own_memory, pids))
    if total > limit and len(pids) > 1:
        proportional = sum(_sum_of(_PROPORTIONAL, pid, "smaps_rollup") for pid in pids)
        total = proportional or total  # 0: an older kernel does not tell
    return total


def _sum_of(pattern: re.Pattern[bytes], pid: int, name: str) -> int:
    try:
        text = (_PROC / str(pid) / name).read_bytes()
    except OSError:  # it has ended, or the system has no such file
        return 0
    return 1024 * sum(map(int, pattern.findall(text)))


def descendants(pid: int | None = None) -> list[int]:
    """Return the processes below a process, or below this one; none if it has ended."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def has_children() -> bool:
    """Tell whether this process has children, running or ended but not waited for. It costs one system call."""
    if not hasattr(os, "waitid"):  # macOS, Windows
        return bool(psutil.Process().children())
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def end_descendants(signal_number: int) -> None:
    """End all processes below this one, and wait for them."""
    # In a process that adopts orphans (`mfbench.processes.process.adopt_orphans`), none escapes: what a descendant
    # leaves behind, in any session or group, becomes a child of this process and is ended in turn.
    end = time.monotonic() + _PATIENCE
    while reap() and time.monotonic() < end:
        for pid in descendants():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                os.kill(pid, signal_number)
        time.sleep(0.001)


def reap() -> bool:
    """Wait for the children that have ended; tell whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
