"""The process from which monitors are forked: it imports large libraries once, and no third-party plugin code.

It starts with the first monitor and ends with the main process. The fork server of `multiprocessing` cannot replace it:
it is shared with the program that imports mfbench, does not adopt orphans, and refuses to start processes for a
daemonic process, which a Dask worker is.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import multiprocessing.spawn
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import NoReturn

from mfbench.processes.monitor import monitor, receive_request, send_request
from mfbench.processes.process import THREAD_VARIABLES, adopt_orphans, end_descendants, reap

_CODE = "import sys; sys.path[:] = {path!r}; from mfbench.processes.server import serve; serve({descriptor})"
_PATIENCE = 10.0


def start_monitor(preload: Sequence[str] = ()) -> socket.socket:
    """Return the connection to a new monitor, which ends when the connection is closed."""
    ours, theirs = socket.socketpair()
    with theirs, _lock:
        try:
            send_request(_running(), (list(preload),), theirs)
        except OSError:  # the server was killed
            _stop()
            send_request(_running(), (list(preload),), theirs)
    return ours


class _Server:
    """The server as the main process sees it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.connection, theirs = socket.socketpair()
        with theirs:
            code = _CODE.format(path=sys.path, descriptor=theirs.fileno())
            # Native libraries read the thread limits when they are loaded, which happens in the server.
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
    """Return the connection to the server; start it if this process has none."""
    global _server
    if _server is None or _server.owner != os.getpid():
        _server = _Server()
        atexit.register(_stop)
    return _server.connection


def _stop() -> None:
    """Stop the server, and with it all monitors and their descendants."""
    global _server
    stopped, _server = _server, None
    if stopped is not None and stopped.owner == os.getpid():
        stopped.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it exits by itself
            stopped.process.wait(_PATIENCE)


def serve(descriptor: int) -> NoReturn:
    """Fork monitors until the main process is gone; runs in the server."""
    adopt_orphans()  # orphans of a killed monitor end with this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    while (request := receive_request(server)) is not None:
        modules, control = request
        for module in modules:
            _preload(module)
        if os.fork() == 0:
            server.close()
            monitor(socket.socket(fileno=control))
        os.close(control)
    end_descendants(signal.SIGKILL)
    os._exit(0)


def _preload(module: str) -> None:
    """Import a module; on failure, the worker that needs it fails with the same error, and the run reports it."""
    try:
        importlib.import_module(module)
    except Exception:  # noqa: BLE001
        traceback.print_exc()
