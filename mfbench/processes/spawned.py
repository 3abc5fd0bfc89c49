"""A child process where processes cannot be forked (Windows): each is started from scratch, and there is no keeper.

It has the interface of `mfbench.processes.child.Child`. The log has no limit, and what a child leaves behind is ended
only if its parents still run when the child is ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.process
import os
import socket
import sys
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from mfbench.processes.channel import Channel, dumps, framed, loads
from mfbench.processes.keeper import Ended, Prepared, import_target
from mfbench.processes.process import THREAD_VARIABLES, redirect_to
from mfbench.processes.tree import memory_of

_LOOK = 0.2  # seconds between two looks at the memory of a child


class SpawnedChild:
    """A place for one child process at a time."""

    def __init__(self) -> None:
        ours, self._events = socket.socketpair()
        self.control = Channel(ours)
        self._preparations: list[tuple[str, tuple[Any, ...]]] = []
        self._process: multiprocessing.process.BaseProcess | None = None
        self._watcher: threading.Thread | None = None

    def prepare(self, target: str, *args: Any) -> None:
        """Have every child call ``module:function`` first."""
        self._preparations.append((target, args))
        self._events.sendall(framed(dumps(Prepared())))

    def start(
        self,
        target: str,
        *args: Any,
        memory: int = 0,
        log: Path | None = None,
        path: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Channel:
        """Start a child and return the channel to it; a child that still runs is ended. See `Child.start`."""
        self.end()
        ours, theirs = socket.socketpair()
        start = (self._preparations, target, args, None if log is None else str(log), tuple(path or sys.path))
        process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs, *start))
        with theirs, _without_main(), _variables({**dict.fromkeys(THREAD_VARIABLES, "1"), **(environ or {})}):
            process.start()
        self._process = process
        self._watcher = threading.Thread(target=self._watch, args=(process, memory), daemon=True)
        self._watcher.start()
        return Channel(ours)

    def _watch(self, process: multiprocessing.process.BaseProcess, memory: int) -> None:
        """Report the end of a child, and end it if it and its descendants use more memory than they may."""
        is_memory = False
        process.join(_LOOK if memory else None)
        while process.exitcode is None:
            if memory_of([process.pid or 0, *_below(process)], memory) > memory:
                is_memory = True
                _kill(process)
            process.join(_LOOK)
        with contextlib.suppress(OSError):  # nobody wants to know any more
            self._events.sendall(framed(dumps(Ended(process.exitcode, is_memory))))

    def end(self) -> None:
        """End the child and its descendants."""
        process, self._process = self._process, None
        if process is None or self._watcher is None:
            return
        _kill(process)
        self._watcher.join()

    def events(self) -> Iterator[Ended | Prepared]:
        """Yield what has happened since the last call, without waiting."""
        for message in self.control.messages():
            yield loads(message)

    def release(self) -> None:
        """End the child."""
        self.end()

    def close(self, patience: float = 0.0) -> None:
        """End the child and close the connection; there is no keeper to wait for, whatever the patience."""
        self.end()
        self._events.close()
        self.control.close()


def _below(process: multiprocessing.process.BaseProcess) -> list[int]:
    """Return the descendants of a process; none if it has ended."""
    try:
        return [below.pid for below in psutil.Process(process.pid).children(recursive=True)]
    except psutil.Error:
        return []


def _kill(process: multiprocessing.process.BaseProcess) -> None:
    """End a process and its descendants."""
    for pid in _below(process):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    process.kill()


def _run(
    connection: socket.socket,
    preparations: Sequence[tuple[str, tuple[Any, ...]]],
    target: str,
    args: tuple[Any, ...],
    log: str | None,
    path: Sequence[str],
) -> None:
    """Run in the child."""
    if log is not None:
        redirect_to(Path(log))
    sys.path[:] = path
    for name, values in preparations:
        import_target(name)(*values)
    import_target(target)(connection, *args, lambda: None)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script that runs, which `multiprocessing` would import in the child."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
