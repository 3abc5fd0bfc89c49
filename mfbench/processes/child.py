"""A child process as the main process sees it: started, reached through a channel, and ended with all below it."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbench.processes.channel import Channel, framed, loads
from mfbench.processes.keeper import END, PREPARE, START, Ended, Prepared, Start
from mfbench.processes.moments import moments_pair
from mfbench.processes.process import THREAD_VARIABLES
from mfbench.processes.server import start_keeper
from mfbench.processes.spawned import SpawnedChild
from mfbench.processes.working_directory import check_working_directory

# Seconds to wait for a keeper that ends; the kernel may take long to end a process that waits for a disk.
_PATIENCE = 10.0
_LEAST_PATIENCE = 0.01  # zero would not be a limit
_CHUNK = 1 << 16

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


def open_child(preload: Sequence[str] = ()) -> Child | SpawnedChild:
    """Return a place for a child process: with a keeper, where processes can be forked."""
    check_working_directory()
    return Child(preload) if CAN_FORK else SpawnedChild()


class Child:
    """A place for one child process at a time, which its keeper watches."""

    def __init__(self, preload: Sequence[str] = ()) -> None:
        self.control = Channel(start_keeper(preload))

    def prepare(self, target: str, *args: Any) -> None:
        """Call ``module:function`` in the keeper, before the first child: children inherit what it imports."""
        with self._blocking() as control:
            control.sendall(PREPARE + framed(pickle.dumps((target, args))))

    def start(
        self,
        target: str,
        *args: Any,
        memory: int = 0,
        log: Path | None = None,
        path: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Channel:
        """Start a child and return the channel to it; a child that still runs is ended."""
        ours, theirs = socket.socketpair()
        moments = moments_pair()
        request = Start(
            target,
            args,
            memory,
            None if log is None else str(log),
            tuple(path or sys.path),
            {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), **(environ or {})},
            str(Path.cwd()),
        )
        with theirs, moments[1] if moments else contextlib.nullcontext() as sink, self._blocking() as control:
            descriptors = [end.fileno() for end in (theirs, sink) if end is not None]
            socket.send_fds(control, [START], descriptors)
            control.sendall(framed(pickle.dumps(request)))
        return Channel(ours, moments[0] if moments else None)

    def end(self) -> None:
        """Ask for the end of the child; `events` yields it when nothing of it is left."""
        with self._blocking() as control:
            control.sendall(END)

    def events(self) -> Iterator[Ended | Prepared]:
        """Yield what the keeper has reported since the last call, without waiting."""
        for message in self.control.messages():
            yield loads(message)

    def release(self) -> None:
        """Ask for the end of the child and its keeper."""
        with contextlib.suppress(OSError):  # the keeper was killed
            self.control.connection.shutdown(socket.SHUT_WR)

    def close(self, patience: float = _PATIENCE) -> None:
        """End the child and its keeper, and wait until nothing is left of them."""
        self.release()
        with contextlib.suppress(OSError):
            self.control.connection.settimeout(max(patience, _LEAST_PATIENCE))
            while self.control.connection.recv(_CHUNK):
                pass
        self.control.close()

    @contextmanager
    def _blocking(self) -> Iterator[socket.socket]:
        """Yield the connection for requests, which are small and which the keeper reads at once."""
        connection = self.control.connection
        connection.setblocking(True)
        try:
            yield connection
        except OSError:  # the keeper was killed, which the next look at `control` shows
            self.control.is_closed = True
        finally:
            connection.setblocking(False)
