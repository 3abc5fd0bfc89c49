"""The global state of a process, which a trial must leave unchanged.

A method that changes it may affect the results of the next trial in the same process. The comparison is cheap, because
it runs after every trial.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import ThreadpoolController

from mfbench.processes.process import has_children

_DESCRIPTORS = "/proc/self/fd"
_MOST_NAMES = 3
# The Mersenne twister: 624 words and the position of the next one.
_STATE_BYTES = 625 * 4
_MOMENTS = 20  # hundredths of a second that a thread has to end
# Signals whose handlers can end a later trial or hide that a process has ended.
_SIGNALS = [getattr(signal, name) for name in ("SIGALRM", "SIGCHLD", "SIGTERM") if hasattr(signal, name)]


class GlobalState:
    """The global state of this process: recorded, compared later, and restored."""

    def __init__(self) -> None:
        self._libraries = ThreadpoolController().lib_controllers
        self._record()

    def begin(self, seed: int) -> None:
        """Seed the global generators and record the state before a trial."""
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002 - the global state is the subject
        self._record()

    def _record(self) -> None:
        self._python = random.getstate()
        self._numpy = _numpy_state()
        self._threads = self._thread_numbers()
        self._filters = list(warnings.filters)
        self._variables = _environment()
        self._settings = {name: read() for name, (read, _) in _SETTINGS.items()}
        self._n_threads = threading.active_count()
        self._descriptors = _descriptors()
        self._has_children = has_children()

    def accept_files(self) -> None:
        """Accept the files that are open now: the arrays of a dataset are memory-mapped."""
        self._descriptors = _descriptors()

    def changes(self) -> str:
        """Return the changes since `begin` as text for a report; empty if there are none."""
        return ", ".join(self.differences())

    def differences(self) -> list[str]:
        """Return the changes since `begin`, one phrase each."""
        differences = []
        if random.getstate() != self._python:
            differences.append("the global random state of Python")
        if _numpy_state() != self._numpy:
            differences.append("the global random state of NumPy")
        if self._thread_numbers() != self._threads:
            differences.append("the number of native threads")
        if list(warnings.filters) != self._filters:
            differences.append("the warning filters")
        if (now := _environment()) != self._variables:
            names = sorted({os.fsdecode(name) for name, _ in now.items() ^ self._variables.items()})
            more = ", …" if len(names) > _MOST_NAMES else ""
            differences.append(f"os.environ ({', '.join(names[:_MOST_NAMES])}{more})")
        differences += [name for name, (read, _) in _SETTINGS.items() if read() != self._settings[name]]
        if not self._threads_end():
            differences.append("threads (not ended)")
        if _descriptors() > self._descriptors:
            gc.collect()  # closes unreferenced files
            if n_open := _descriptors() - self._descriptors:
                differences.append(f"open files ({n_open} more)" if n_open > 0 else "open files")
        if has_children() and not self._has_children:
            differences.append("child processes (not ended)")
        return differences

    def restore(self) -> None:
        """Restore the environment and all settings to the last recorded state."""
        if _environment() != self._variables:
            os.environ.clear()
            os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in self._variables.items()})
        for name, (_, write) in _SETTINGS.items():
            write(self._settings[name])

    def _threads_end(self) -> bool:
        """Return whether there are no more threads than before; those of a pool end a moment after it is closed."""
        for _ in range(_MOMENTS):
            if threading.active_count() <= self._n_threads:
                return True
            time.sleep(0.01)
        return False

    def _thread_numbers(self) -> list[Any]:
        return [library.num_threads for library in self._libraries]


def _numpy_state() -> tuple[int, bytes]:
    """Return the global generator and its state, read from memory: `np.random.get_state` takes fifty times as long."""
    generator = getattr(np.random, "get_bit_generator")()  # noqa: B009 - NumPy's annotations omit it
    return id(generator), ctypes.string_at(generator.ctypes.state_address, _STATE_BYTES)


def _environment() -> dict[Any, Any]:
    # The mapping behind os.environ: copying os.environ itself decodes every name and value.
    data: dict[Any, Any] = vars(os.environ)["_data"]
    return data.copy()


def _directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - faster than Path.cwd()
    except FileNotFoundError:
        return "removed"


def _set_path(path: list[str]) -> None:
    sys.path[:] = path


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in _SIGNALS}


def _set_handlers(handlers: Mapping[int, Any]) -> None:
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # it was set by C code
                signal.signal(number, handler)


def _timer() -> bool:
    return hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] > 0.0


def _stop_timer(_: bool) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _umask() -> int:
    mask = os.umask(0o077)  # reading the umask requires setting it
    os.umask(mask)
    return mask


_SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "the working directory": (_directory, os.chdir),
    "sys.path": (lambda: list(sys.path), _set_path),
    "signal handlers": (_handlers, _set_handlers),
    "a timer": (_timer, _stop_timer),
    "the umask": (_umask, os.umask),
    "NumPy's handling of errors": (np.geterr, lambda errors: np.seterr(**errors)),
    "scikit-learn's settings": (sklearn.get_config, lambda settings: sklearn.set_config(**settings)),
}


def _descriptors() -> int:
    with contextlib.suppress(OSError):  # no such folder on this system
        return len(os.listdir(_DESCRIPTORS))  # noqa: PTH208 - faster than Path.iterdir()
    return 0
