"""The processes of a run as the system sees them: its main process, the server below it, monitors and workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

PLACES = ("server", "monitor", "worker")
"""What runs below the main process: each is a child of the one before."""


def wait_for(condition: Callable[[], Any], process: Popen[str] | None = None, seconds: float = 300) -> Any:
    """Wait until a condition is true and return it; the seconds only tell a hung run from a busy machine."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return value


def alive() -> dict[int, int]:
    """Return the parent of each process that is not a zombie."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended in the meantime
            continue
        if fields[0] != "Z":
            parents[int(path.parent.name)] = int(fields[1])
    return parents


def below(pid: int) -> list[list[int]]:
    """Return the processes below one: its children, their children, and so on."""
    parents, levels, last = alive(), [], [pid]
    while last := [child for child, parent in parents.items() if parent in last]:
        levels.append(last)
    return levels


def processes_of(pid: int, place: str) -> list[int]:
    """Return the processes of a run at one of `PLACES`, or all of them for "all"."""
    levels = below(pid)
    if place == "all":
        return [pid, *(one for level in levels for one in level)]
    number = PLACES.index(place)
    return levels[number] if len(levels) > number else []
