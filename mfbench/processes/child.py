"""A child process as the main process sees it: started, reached through a channel, and ended with all below it."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mfbench.processes.channel import Channel
from mfbench.processes.keeper import Ended, Prepared, Start, send_request
from mfbench.processes.process import THREAD_VARIABLES
from mfbench.processes.server import start_monitor
from mfbench.processes.spawned import SpawnedChild
from mfbench.processes.working_directory import check_working_directory

# Seconds to wait for a monitor that ends; the kernel may take long to end a process that waits for a disk.
_PATIENCE = 10.0
_LEAST_PATIENCE = 0.01  # zero would not be a limit
_CHUNK = 1 << 16

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


def open_child(preload: Sequence[str] = ()) -> Child | SpawnedChild:
    """Return a slot for a child process: with a monitor, where processes can be forked.

    Parameters
    ----------
    preload : sequence of str
        Modules of mfbench that all children share.

    Raises
    ------
    UsageError
        If the working directory configures a library that children load.
    """
    check_working_directory()
    return Child(preload) if CAN_FORK else SpawnedChild()


class Child:
    """A slot for one child process at a time, which its monitor watches.

    Parameters
    ----------
    preload : sequence of str
        Modules of mfbench that all children share.

    Attributes
    ----------
    control : Channel
        The connection to the monitor; it becomes readable when a child has ended, and closes if the monitor is killed.
    """

    def __init__(self, preload: Sequence[str] = ()) -> None:
        self.control = Channel(start_monitor(preload))

    def prepare(self, target: str, *args: Any) -> None:
        """Call ``module:function`` in the monitor, before the first child: children inherit what it imports."""
        self._request("prepare", target, args)

    def start(
        self, target: str, *args: Any, memory: int = 0, log: Path | None = None, path: Sequence[str] = ()
    ) -> Channel:
        """Start a child and return the channel to it; a child that still runs is ended.

        Parameters
        ----------
        target : str
            ``module:function``, called with the child's blocking socket and `args`.
        *args
        memory : int
            Bytes that the child and all processes below it may use together; 0 for no limit.
        log : Path or None
            File for everything that they print; None leaves it where this process prints.
        path : sequence of str
            Its ``sys.path``; empty for that of this process.
        """
        ours, theirs = socket.socketpair()
        environ = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
        request = Start(target, args, memory, log, tuple(path or sys.path), environ, str(Path.cwd()))
        with theirs:
            self._request("start", request, passed=theirs)
        return Channel(ours)

    def end(self) -> None:
        """Ask for the end of the child; `events` yields it when nothing of it is left."""
        self._request("end")

    def events(self) -> Iterator[Ended | Prepared]:
        """Yield what the monitor has reported since the last call, without waiting."""
        for message in self.control.messages():
            yield pickle.loads(message)  # nosec B301  # from the monitor

    def release(self) -> None:
        """Ask for the end of the child and its monitor."""
        with contextlib.suppress(OSError):  # the monitor was killed
            self.control.connection.shutdown(socket.SHUT_WR)

    def close(self, patience: float = _PATIENCE) -> None:
        """End the child and its monitor, and wait until nothing is left of them.

        Parameters
        ----------
        patience : float, default=10.0
            Seconds to wait at most. A monitor that is still importing ends, with its child, when it has done so.
        """
        self.release()
        with contextlib.suppress(OSError):
            self.control.connection.settimeout(max(patience, _LEAST_PATIENCE))
            while self.control.connection.recv(_CHUNK):
                pass
        self.control.close()

    def _request(self, *request: Any, passed: socket.socket | None = None) -> None:
        """Send a request, which is small and which the monitor reads at once."""
        connection = self.control.connection
        connection.setblocking(True)
        try:
            send_request(connection, request, passed)
        except OSError:  # the monitor was killed, which the next look at `control` shows
            self.control.is_closed = True
        finally:
            connection.setblocking(False)
