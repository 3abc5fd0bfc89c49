"""The monitor: a small process that starts a worker, watches its process tree, and kills every process in it.

There is one monitor per worker slot. It runs only code of mfbench and of built-in plugins; the worker is forked from it
and loads the rest. The monitor adopts orphans, so nothing that a worker starts outlives it, whether the worker exits,
the main process ends it, or the main process dies.

Monitors are forked from a server, which imports large libraries once, and no third-party plugin code. It starts with
the first monitor and ends with the main process. The fork server of `multiprocessing` cannot replace it: it is shared
with the program that imports mfbench, does not adopt orphans, and refuses to start processes for a daemonic process,
which a Dask worker is.
"""

import atexit
import contextlib
import gc
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

from mfbench.processes import process
from mfbench.processes.channel import framed, receive

# Seconds between checks of the worker's memory and of the log. Reading the memory of the whole tree takes longer, so it
# happens less often.
_INTERVAL = 0.1
_CHECKS_PER_TREE = 5
# Bytes of the log, which all workers of a run share.
LOG_LIMIT = 50 * 10**6


@dataclass(frozen=True)
class Start:
    """A request to start a worker."""

    target: str  # `module:function`, called with the blocking end of the worker's socket and `args`
    args: tuple[Any, ...]
    memory: int  # bytes for the worker and its descendants together; 0 means no limit
    log: Path | None  # file for their output; None means the standard streams of the main process
    path: tuple[str, ...]  # `sys.path` of the worker
    environ: Mapping[str, str]
    directory: str  # working directory of the worker


@dataclass(frozen=True)
class Ended:
    """The worker and all its descendants have ended."""

    code: int  # exit code; negative for a signal
    is_memory: bool = False  # killed because the process tree exceeded its memory limit


@dataclass(frozen=True)
class Prepared:
    """The preparation before the first worker is done."""


def tell(connection: socket.socket, event: Ended | Prepared) -> None:
    """Send an event, unless the connection is closed."""
    with contextlib.suppress(OSError):
        connection.sendall(framed(pickle.dumps(event)))


def send_request(connection: socket.socket, request: tuple[Any, ...], passed: socket.socket | None = None) -> None:
    """Send a request to the server or a monitor, optionally with a socket."""
    if passed is None:
        connection.sendall(b"R")
    else:
        socket.send_fds(connection, [b"R"], [passed.fileno()])
    connection.sendall(framed(pickle.dumps(request)))


def receive_request(connection: socket.socket) -> tuple[Any, ...] | None:
    """Block until a request arrives; return it with its descriptors, or None at the end of the connection."""
    try:
        data, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        message = receive(connection) if data else None
    except ConnectionResetError:  # the main process exited before it read how a worker ended
        return None
    if message is None:
        return None
    return (*pickle.loads(message), *descriptors)  # nosec B301  # from the parent process


def monitor(control: socket.socket) -> NoReturn:
    """Serve the main process until it closes the connection; then kill everything and exit."""
    process.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a worker may send it to its whole process group
    status = 1
    try:
        _Monitor(control).serve()
        status = 0
    except BaseException:  # noqa: BLE001 - must not return into the code that forked this process
        traceback.print_exc()
    finally:
        process.end_descendants(signal.SIGKILL)
        os._exit(status)


class _Monitor:
    """State of a monitor. Requests name its public methods."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._worker = 0
        self._memory = self._n_checks = 0
        self._log: Path | None = None
        # A child that exits wakes the loop.
        self._wake, self._waker = os.pipe()
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Serve requests until the main process is gone."""
        while True:
            watched: list[Any] = [self._control, self._wake]
            ready, _, _ = select.select(watched, [], [], _INTERVAL if self._worker else None)
            if self._wake in ready:
                os.read(self._wake, 1 << 12)
            self._wait_for_children()
            if self._worker:
                self._check_limits()
            if self._control in ready:
                request = receive_request(self._control)
                if request is None:
                    return
                name, *args = request
                getattr(self, name)(*args)

    def prepare(self, target: str, args: tuple[Any, ...]) -> None:
        """Call a function whose effects all workers inherit."""
        resolve_name(target)(*args)
        tell(self._control, Prepared())

    def start(self, request: Start, descriptor: int) -> None:
        """Start a worker on the socket with this descriptor; kill one that is still running."""
        self.end()
        self._memory, self._log, self._n_checks = request.memory, request.log, 0
        gc.freeze()  # the worker's garbage collector must not touch, and so copy, pages shared with this process
        pid = os.fork()
        if pid == 0:
            self._become_worker(request, descriptor)
        self._worker = pid
        os.close(descriptor)

    def _become_worker(self, request: Start, descriptor: int) -> NoReturn:
        status = 1
        try:
            process.end_with_parent()
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._control.close()
            os.close(self._wake)
            os.close(self._waker)
            if request.log is not None:
                process.redirect_to(request.log)
            os.environ.clear()
            os.environ.update(request.environ)
            os.chdir(request.directory)
            sys.path[:] = request.path
            with socket.socket(fileno=descriptor) as channel:
                resolve_name(request.target)(channel, *request.args)
            status = 0
        except BaseException:  # noqa: BLE001 - must not return into the loop that forked this process
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _check_limits(self) -> None:
        """Kill the worker if its process tree uses too much memory; truncate a log that has grown too large."""
        self._n_checks += 1
        if self._log is not None:
            empty_if_full(self._log)
        is_over = self._memory and process.own_memory(self._worker) > self._memory
        if self._memory and not is_over and self._n_checks % _CHECKS_PER_TREE == 0:
            is_over = process.memory_of(process.descendants(), self._memory) > self._memory
        if is_over:
            self.end(is_memory=True)

    def _wait_for_children(self) -> None:
        """Reap adopted processes that have ended, and the worker."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._worker:
                    self._report(ended[1])

    def end(self, *, is_memory: bool = False) -> None:
        """Kill the worker, if there is one."""
        if self._worker:
            os.kill(self._worker, signal.SIGKILL)
            self._report(os.waitpid(self._worker, 0)[1], is_memory=is_memory)

    def _report(self, status: int, *, is_memory: bool = False) -> None:
        """Clean up after a worker that has ended, then notify the main process."""
        self._worker = 0
        process.end_descendants(signal.SIGKILL)
        if self._log is not None:
            empty_if_full(self._log)
        tell(self._control, Ended(os.waitstatus_to_exitcode(status), is_memory))


def empty_if_full(log: Path) -> None:
    """Truncate a log that has reached its limit: recent output is the more useful."""
    with contextlib.suppress(OSError):  # it does not exist or cannot be written
        if log.is_file() and log.stat().st_size > LOG_LIMIT:
            log.write_text(f"[mfbench dropped output: the log had reached {LOG_LIMIT:,} bytes]\n", encoding="ascii")


_CODE = "import sys; sys.path[:] = {path!r}; from mfbench.processes.monitor import serve; serve({descriptor})"
_PATIENCE = 10.0  # seconds to wait for the server to exit


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
                env={**os.environ, **dict.fromkeys(process.THREAD_VARIABLES, "1")},
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
    process.adopt_orphans()  # orphans of a killed monitor end with this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: process.reap())
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    while (request := receive_request(server)) is not None:
        modules, control = request
        for module in modules:
            # On failure, the worker that needs the module fails with the same error, and the run reports it.
            try:
                importlib.import_module(module)
            except Exception:  # noqa: BLE001
                traceback.print_exc()
        if os.fork() == 0:
            server.close()
            monitor(socket.socket(fileno=control))
        os.close(control)
    process.end_descendants(signal.SIGKILL)
    os._exit(0)
