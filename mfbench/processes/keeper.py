"""The keeper: a small process that starts a worker, watches all processes below it, and ends every one of them.

There is one keeper per place for a worker. It runs only code of mfbench and of built-in plugins; a worker is forked
from it and loads the rest. The keeper adopts what the worker's processes leave behind, so nothing that a worker starts
outlives it: neither when the worker ends, nor when the main process asks for its end, nor when the main process is
gone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import mmap
import os
import pickle
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from mfbench.processes.channel import dumps, framed, receive
from mfbench.processes.log import CappedLog
from mfbench.processes.moments import send_moments_to
from mfbench.processes.process import adopt_orphans, end_with_parent, redirect
from mfbench.processes.tree import descendants, end_descendants, memory_of, own_memory

# Seconds between two looks at the memory of the worker, and at that of all processes below it, which costs more.
_LOOK_AT_WORKER = 0.1
_LOOK_AT_ALL = 5  # every so many looks
_CHUNK = 1 << 16
START, END, PREPARE = b"S", b"E", b"P"


@dataclass(frozen=True)
class Start:
    """A request for a worker."""

    # `module:function`; called with the blocking end of the worker's socket, `args` and a function to be called at the
    # start of each section of its output.
    target: str
    args: tuple[Any, ...]
    memory: int  # bytes that the worker and all processes below it may use together; 0 for no limit
    log: str | None  # file for everything that they print; None leaves it where the main process prints
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
    """The keeper has called what it was asked to call before the first worker."""


def import_target(name: str) -> Callable[..., Any]:
    """Import ``module:function``."""
    module, _, function = name.partition(":")
    target: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return target


def keep(control: socket.socket) -> NoReturn:
    """Serve the main process until it closes the connection; then end everything and exit."""
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a worker may send it to its whole family
    status = 1
    try:
        _Keeper(control).serve()
        status = 0
    except BaseException:  # noqa: BLE001 - this process must not return into the code that forked it
        traceback.print_exc()
    finally:
        end_descendants(signal.SIGKILL)
        os._exit(status)


class _Keeper:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._worker = 0
        self._request: Start | None = None
        self._section: mmap.mmap | None = None
        self._output = -1
        self._log: CappedLog | None = None
        self._is_memory = False
        self._looks = 0
        # A child that ends wakes the loop.
        self._wake, self._waker = os.pipe()
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        while True:
            watched: list[Any] = [self._control, self._wake, *([self._output] if self._output >= 0 else [])]
            limited = self._worker and self._request is not None and self._request.memory
            ready, _, _ = select.select(watched, [], [], _LOOK_AT_WORKER if limited else None)
            if self._output in ready:
                self._copy_output()
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, _CHUNK)
            self._wait_for_children()
            if limited and self._worker:
                self._look_at_memory()
            if self._control in ready and not self._obey():
                return

    def _obey(self) -> bool:
        """Do what the main process asks for; return False if it is gone."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        except ConnectionResetError:  # it has gone without reading how a worker ended
            return False
        if data == START:
            request = receive(self._control)
            assert request is not None
            self._start(pickle.loads(request), descriptors)  # nosec B301  # from the process that started this one
        elif data == END:
            self._end_worker()
        elif data == PREPARE:
            request = receive(self._control)
            assert request is not None
            name, args = pickle.loads(request)  # nosec B301  # from the process that started this one
            import_target(name)(*args)
            self._tell(Prepared())
        return bool(data)

    def _start(self, request: Start, descriptors: list[int]) -> None:
        self._end_worker()
        self._request, self._is_memory, self._looks = request, False, 0
        self._section = mmap.mmap(-1, 8)
        read = write = -1
        if request.log is not None:
            self._log = CappedLog(request.log)
            read, write = os.pipe()
            os.set_blocking(read, False)
        gc.freeze()  # the worker's collector must not touch, and so copy, the pages that it shares with this process
        pid = os.fork()
        if pid == 0:
            self._become_worker(request, descriptors, write)
        self._worker, self._output = pid, read
        for descriptor in descriptors:
            os.close(descriptor)
        if write >= 0:
            os.close(write)

    def _become_worker(self, request: Start, descriptors: list[int], output: int) -> NoReturn:
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
            if output >= 0:
                redirect(output)
                os.close(output)
            os.environ.clear()
            os.environ.update(request.environ)
            os.chdir(request.directory)
            sys.path[:] = request.path
            for descriptor in descriptors[1:]:
                send_moments_to(descriptor)
            with socket.socket(fileno=descriptors[0]) as channel:
                import_target(request.target)(channel, *request.args, self._begin_section)
            status = 0
        except BaseException:  # noqa: BLE001 - this process must not return into the loop that it was forked from
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def _begin_section(self) -> None:
        """Begin a new section of the output; called in the worker."""
        assert self._section is not None
        number = int.from_bytes(self._section[:8], "little")
        self._section[:8] = (number + 1).to_bytes(8, "little")

    def _copy_output(self) -> None:
        assert self._log is not None and self._section is not None
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._log.write(data, int.from_bytes(self._section[:8], "little"))
        else:  # the worker has closed its output and left nobody who could write
            os.close(self._output)
            self._output = -1

    def _look_at_memory(self) -> None:
        assert self._request is not None
        self._looks += 1
        limit = self._request.memory
        is_over = own_memory(self._worker) > limit
        if not is_over and self._looks % _LOOK_AT_ALL == 0:
            is_over = memory_of(descendants(), limit) > limit
        if is_over:
            self._is_memory = True
            self._end_worker()

    def _wait_for_children(self) -> None:
        """Wait for adopted processes that have ended, and for the worker."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._worker:
                self._report(status)

    def _end_worker(self) -> None:
        if self._worker:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._worker, signal.SIGKILL)
            self._report(os.waitpid(self._worker, 0)[1])

    def _report(self, status: int) -> None:
        """Clear up after a worker that has ended, then tell the main process."""
        self._worker = 0
        end_descendants(signal.SIGKILL)
        if self._output >= 0:
            while self._output >= 0 and select.select([self._output], [], [], 0)[0]:
                self._copy_output()
            if self._output >= 0:
                os.close(self._output)
                self._output = -1
        if self._log is not None:
            self._log.close()
            self._log = None
        self._tell(Ended(os.waitstatus_to_exitcode(status), self._is_memory))

    def _tell(self, event: Ended | Prepared) -> None:
        # A main process that has gone closes the connection, which the loop notices.
        with contextlib.suppress(OSError):
            self._control.sendall(framed(dumps(event)))
