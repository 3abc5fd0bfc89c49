"""A child process as the main process sees it: started, connected by a channel, and killed with its descendants.

Where fork is unavailable (Windows), each child is spawned and there is no monitor: the log is unlimited, and orphans of
a child are killed only if their parents are still running when the child ends.
"""

import contextlib
import multiprocessing
import multiprocessing.process
import os
import pickle
import socket
import sys
import threading
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import psutil

from mfbench.processes.channel import Channel
from mfbench.processes.monitor import Ended, Prepared, Start, send_request, start_monitor, tell
from mfbench.processes.process import THREAD_VARIABLES, check_working_directory, descendants, memory_of, redirect_to

# Seconds to wait for a monitor to exit; the kernel can be slow to kill a process in uninterruptible disk I/O.
_PATIENCE = 10.0
_LEAST_PATIENCE = 0.01  # zero would mean no limit
_CHUNK = 1 << 16
_INTERVAL = 0.2  # seconds between memory checks of a child without a monitor

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


class Child:
    """A slot for one child process at a time, watched by its monitor."""

    def __init__(self, preload: Sequence[str] = ()) -> None:
        self.control = Channel(start_monitor(preload))

    def prepare(self, target: str, *args: Any) -> None:
        """Call ``module:function`` in the monitor before the first child; children inherit its imports."""
        self._request("prepare", target, args)

    def start(
        self, target: str, *args: Any, memory: int = 0, log: Path | None = None, path: Sequence[str] = ()
    ) -> Channel:
        """Start a child and return its channel; kill a child that is still running."""
        ours, theirs = socket.socketpair()
        environ = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
        request = Start(target, args, memory, log, tuple(path or sys.path), environ, str(Path.cwd()))
        with theirs:
            self._request("start", request, passed=theirs)
        return Channel(ours)

    def end(self) -> None:
        """Request that the child be killed; `events` reports when all its descendants are gone."""
        self._request("end")

    def events(self) -> Iterator[Ended | Prepared]:
        """Yield the events since the last call, without blocking."""
        for message in self.control.messages():
            yield pickle.loads(message)  # nosec B301  # from the monitor or this process

    def release(self) -> None:
        """Request that the child and its monitor be ended."""
        with contextlib.suppress(OSError):  # the monitor was killed
            self.control.connection.shutdown(socket.SHUT_WR)

    def close(self, patience: float = _PATIENCE) -> None:
        """End the child and its monitor, and wait until both and all descendants are gone."""
        self.release()
        with contextlib.suppress(OSError):
            self.control.connection.settimeout(max(patience, _LEAST_PATIENCE))
            while self.control.connection.recv(_CHUNK):
                pass
        self.control.close()

    def _request(self, *request: Any, passed: socket.socket | None = None) -> None:
        """Send a request; it is small, and the monitor reads it at once."""
        connection = self.control.connection
        connection.setblocking(True)
        try:
            send_request(connection, request, passed)
        except OSError:  # the monitor was killed; the caller sees that `control` is closed
            self.control.is_closed = True
        finally:
            connection.setblocking(False)


class SpawnedChild(Child):
    """A slot for one spawned child process at a time."""

    def __init__(self) -> None:
        ours, self._events = socket.socketpair()
        self.control = Channel(ours)
        self._preparations: list[tuple[str, tuple[Any, ...]]] = []
        self._process: multiprocessing.process.BaseProcess | None = None
        self._watcher: threading.Thread | None = None

    def prepare(self, target: str, *args: Any) -> None:
        """Make every child call ``module:function`` first."""
        self._preparations.append((target, args))
        tell(self._events, Prepared())

    def start(
        self, target: str, *args: Any, memory: int = 0, log: Path | None = None, path: Sequence[str] = ()
    ) -> Channel:
        """Start a child and return its channel; kill a child that is still running. See `Child.start`."""
        self.end()
        ours, theirs = socket.socketpair()
        calls = pickle.dumps((self._preparations, target, args))
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_run, args=(theirs, log, tuple(path or sys.path), calls))
        with theirs, _without_main():
            process.start()
        self._process = process
        self._watcher = threading.Thread(target=self._watch, args=(process, memory), daemon=True)
        self._watcher.start()
        return Channel(ours)

    def _watch(self, process: multiprocessing.process.BaseProcess, memory: int) -> None:
        """Report the end of a child; kill it if it and its descendants exceed their memory limit."""
        is_memory = False
        process.join(_INTERVAL if memory else None)
        while process.exitcode is None:
            if memory_of([process.pid or 0, *descendants(process.pid)], memory) > memory:
                is_memory = True
                _kill(process)
            process.join(_INTERVAL)
        tell(self._events, Ended(process.exitcode, is_memory))

    def end(self) -> None:
        """Kill the child and its descendants."""
        process, self._process = self._process, None
        if process is not None and self._watcher is not None:
            _kill(process)
            self._watcher.join()

    def release(self) -> None:
        """Kill the child."""
        self.end()

    def close(self, patience: float = 0.0) -> None:
        """Kill the child and close the connection; there is no monitor to wait for."""
        self.end()
        self._events.close()
        self.control.close()


def open_child(preload: Sequence[str] = ()) -> Child:
    """Return a slot for a child process, with a monitor where fork is available."""
    check_working_directory()
    return Child(preload) if CAN_FORK else SpawnedChild()


def _kill(process: multiprocessing.process.BaseProcess) -> None:
    """Kill a process and its descendants."""
    for pid in descendants(process.pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    process.kill()


def _run(connection: socket.socket, log: Path | None, path: Sequence[str], calls: bytes) -> None:
    """Set up the child process and call its target."""
    if log is not None:
        redirect_to(log)
    sys.path[:] = path
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # before a native library is loaded
    preparations, target, args = pickle.loads(calls)  # nosec B301  # from the parent process
    for name, values in preparations:
        resolve_name(name)(*values)
    resolve_name(target)(connection, *args)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main script, which `multiprocessing` would otherwise import in the child."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
