"""The monitor: a small process that starts a worker, watches all processes below it, and ends every one of them.

There is one monitor per worker slot. It runs only code of mfbench and of built-in plugins; a worker is forked from it
and loads the rest. The monitor adopts what the worker's processes leave behind, so nothing that a worker starts
outlives it: neither when the worker ends, nor when the main process asks for its end, nor when the main process is
gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NoReturn

from mfbench.processes.channel import framed, receive
from mfbench.processes.process import (
    adopt_orphans,
    descendants,
    end_descendants,
    end_with_parent,
    memory_of,
    own_memory,
    redirect_to,
)

# Seconds between two checks of the worker's memory and of the log. The memory of all processes below takes longer to
# read, so it is checked less often.
_INTERVAL = 0.1
_CHECKS_PER_TREE = 5
# Bytes of the log, which all workers of a run share.
LOG_LIMIT = 50 * 10**6


@dataclass(frozen=True)
class Start:
    """A request for a worker."""

    target: str  # `module:function`; called with the blocking end of the worker's socket and `args`
    args: tuple[Any, ...]
    memory: int  # bytes that the worker and all processes below it may use together; 0 for no limit
    log: Path | None  # file for everything that they print; None leaves it where the main process prints
    path: tuple[str, ...]  # `sys.path` of the worker
    environ: Mapping[str, str]
    directory: str  # its working directory


@dataclass(frozen=True)
class Ended:
    """The end of a worker and of everything below it."""

    code: int  # its exit code; negative for a signal
    is_memory: bool = False  # whether it was ended because all processes together exceeded the memory limit


@dataclass(frozen=True)
class Prepared:
    """The monitor has called what it was asked to call before the first worker."""


def send_request(connection: socket.socket, request: tuple[Any, ...], passed: socket.socket | None = None) -> None:
    """Send a request to the server or a monitor, and with it a socket that it shall have."""
    if passed is None:
        connection.sendall(b"R")
    else:
        socket.send_fds(connection, [b"R"], [passed.fileno()])
    connection.sendall(framed(pickle.dumps(request)))


def receive_request(connection: socket.socket) -> tuple[Any, ...] | None:
    """Wait for a request; return it, followed by the descriptors that came with it; None if there are no more."""
    try:
        data, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        message = receive(connection) if data else None
    except ConnectionResetError:  # the main process has gone without reading how a worker ended
        return None
    if message is None:
        return None
    return (*pickle.loads(message), *descriptors)  # nosec B301  # from the process that started this one


def monitor(control: socket.socket) -> NoReturn:
    """Serve the main process until it closes the connection; then end everything and exit."""
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a worker may send it to its whole family
    status = 1
    try:
        _Monitor(control).serve()
        status = 0
    except BaseException:  # noqa: BLE001 - this process must not return into the code that forked it
        traceback.print_exc()
    finally:
        end_descendants(signal.SIGKILL)
        os._exit(status)


class _Monitor:
    """The state of a monitor. Requests name the public methods."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._worker = 0
        self._memory = self._n_checks = 0
        self._log: Path | None = None
        # A child that ends wakes the loop.
        self._wake, self._waker = os.pipe()
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Do what the main process asks for until it is gone."""
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
        """Call a function whose effects all workers share."""
        resolve_name(target)(*args)
        self._tell(Prepared())

    def start(self, request: Start, descriptor: int) -> None:
        """Start a worker, whose end of a socket is given; one that still runs is ended."""
        self.end()
        self._memory, self._log, self._n_checks = request.memory, request.log, 0
        gc.freeze()  # the worker's collector must not touch, and so copy, the pages that it shares with this process
        pid = os.fork()
        if pid == 0:
            self._become_worker(request, descriptor)
        self._worker = pid
        os.close(descriptor)

    def _become_worker(self, request: Start, descriptor: int) -> NoReturn:
        status = 1
        try:
            end_with_parent()
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._control.close()
            os.close(self._wake)
            os.close(self._waker)
            if request.log is not None:
                redirect_to(request.log)
            os.environ.clear()
            os.environ.update(request.environ)
            os.chdir(request.directory)
            sys.path[:] = request.path
            with socket.socket(fileno=descriptor) as channel:
                resolve_name(request.target)(channel, *request.args)
            status = 0
        except BaseException:  # noqa: BLE001 - this process must not return into the loop that it was forked from
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _check_limits(self) -> None:
        """End the worker if all processes together use too much memory; empty a log that has grown too large."""
        self._n_checks += 1
        if self._log is not None:
            empty_if_full(self._log)
        is_over = self._memory and own_memory(self._worker) > self._memory
        if self._memory and not is_over and self._n_checks % _CHECKS_PER_TREE == 0:
            is_over = memory_of(descendants(), self._memory) > self._memory
        if is_over:
            self.end(is_memory=True)

    def _wait_for_children(self) -> None:
        """Wait for adopted processes that have ended, and for the worker."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._worker:
                    self._report(ended[1])

    def end(self, *, is_memory: bool = False) -> None:
        """End the worker if there is one."""
        if self._worker:
            os.kill(self._worker, signal.SIGKILL)
            self._report(os.waitpid(self._worker, 0)[1], is_memory=is_memory)

    def _report(self, status: int, *, is_memory: bool = False) -> None:
        """Clear up after a worker that has ended, then tell the main process."""
        self._worker = 0
        end_descendants(signal.SIGKILL)
        if self._log is not None:
            empty_if_full(self._log)
        self._tell(Ended(os.waitstatus_to_exitcode(status), is_memory))

    def _tell(self, event: Ended | Prepared) -> None:
        # A main process that has gone closes the connection, which the loop notices.
        with contextlib.suppress(OSError):
            self._control.sendall(framed(pickle.dumps(event)))


def empty_if_full(log: Path) -> None:
    """Empty a log that has reached its limit: newer output tells more."""
    with contextlib.suppress(OSError):  # there is none, or it cannot be written to
        if log.is_file() and log.stat().st_size > LOG_LIMIT:
            log.write_text(f"[mfbench dropped output: the log had reached {LOG_LIMIT:,} bytes]\n", encoding="ascii")
