"""The process that keepers are forked from: it imports large libraries once, and no code of a third party.

It is started when the first keeper is needed and ends with the main process. Unlike the server of `multiprocessing`, it
never imports the script that the main process runs, and it ends whatever a keeper that was killed left behind.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import multiprocessing.spawn
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from mfbench.processes.channel import framed, receive
from mfbench.processes.keeper import keep
from mfbench.processes.process import THREAD_VARIABLES, adopt_orphans
from mfbench.processes.tree import end_descendants

_FORK = b"F"
_CODE = "import sys; sys.path[:] = {path!r}; from mfbench.processes.server import serve; serve({descriptor})"
_PATIENCE = 10.0


def start_keeper(preload: Sequence[str] = ()) -> socket.socket:
    """Return the connection to a new keeper, which ends when the connection is closed."""
    ours, theirs = socket.socketpair()
    with theirs, _lock:
        request = framed(pickle.dumps(list(preload)))
        try:
            _send(_running(), theirs, request)
        except OSError:  # someone has killed the server
            _stop()
            _send(_running(), theirs, request)
    return ours


class _Server:
    """The server as the main process sees it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.connection, theirs = socket.socketpair()
        with theirs:
            code = _CODE.format(path=sys.path, descriptor=theirs.fileno())
            # Native libraries read the numbers of threads when they are loaded, which happens in the server.
            self.process = subprocess.Popen(
                [multiprocessing.spawn.get_executable(), "-c", code],
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )


_lock = threading.Lock()
_server: _Server | None = None


def _running() -> socket.socket:
    global _server
    if _server is None or _server.owner != os.getpid():
        _server = _Server()
        atexit.register(_stop)
    return _server.connection


def _stop() -> None:
    """End the server, and with it all keepers and what is below them."""
    global _server
    stopped, _server = _server, None
    if stopped is not None and stopped.owner == os.getpid():
        stopped.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it ends by itself
            stopped.process.wait(_PATIENCE)


def _send(server: socket.socket, connection: socket.socket, request: bytes) -> None:
    socket.send_fds(server, [_FORK], [connection.fileno()])
    server.sendall(request)


def serve(descriptor: int) -> NoReturn:
    """Fork keepers until the main process is gone; called in the server."""
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    wake, waker = os.pipe()
    for end in (wake, waker):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    watched: list[Any] = [server, wake]
    keepers: set[int] = set()
    while True:
        ready, _, _ = select.select(watched, [], [])
        if wake in ready:
            os.read(wake, 1 << 12)
            _end_strays(keepers)
        if server not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(server, 1, 1)
        request = receive(server) if data else None
        if request is None:
            break
        _preload(pickle.loads(request))  # nosec B301  # from the process that started this one
        pid = os.fork()
        if pid == 0:
            server.close()
            os.close(wake)
            os.close(waker)
            keep(socket.socket(fileno=descriptors[0]))
        keepers.add(pid)
        os.close(descriptors[0])
    end_descendants(signal.SIGKILL)
    os._exit(0)


def _preload(modules: Sequence[str]) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception:  # noqa: BLE001 - the worker that needs it fails with the same error, and the run reports that
            traceback.print_exc()


def _end_strays(keepers: set[int]) -> None:
    """Wait for children that have ended. A keeper that did not end by itself may have left processes: end them."""
    import psutil

    has_lost_one = False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            keepers.discard(pid)
            has_lost_one |= status != 0
    if has_lost_one:
        for child in psutil.Process().children():
            if child.pid not in keepers:
                for process in [child, *child.children(recursive=True)]:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        process.kill()
