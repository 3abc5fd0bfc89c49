"""The state that all code of a process shares, put back to what it was before any method ran."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from mfbench.run.workers.surroundings import Surroundings

_SEED = 271_828  # of the global generators: one that a method will hardly seed them with
_SIGNALS = [getattr(signal, name) for name in ("SIGALRM", "SIGCHLD", "SIGTERM") if hasattr(signal, name)]


class _Marker(UserWarning):
    """The category of a filter that no method sets."""


class SharedState:
    """Shared state of this process, recorded to be restored."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        self.path = list(sys.path)
        self.directory = os.getcwd()  # noqa: PTH109 - the text, as chdir takes it
        self.numpy_errors: dict[str, Any] = dict(np.geterr())
        self.sklearn_config = sklearn.get_config()
        self.handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        self.mask = os.umask(0o077)  # it can be read only by setting another
        os.umask(self.mask)

    def restore(self) -> None:
        """Put everything back that can be."""
        for name in os.environ.keys() - self.environment.keys():
            del os.environ[name]
        os.environ.update(self.environment)
        sys.path[:] = self.path
        os.chdir(self.directory)
        np.seterr(**self.numpy_errors)
        sklearn.set_config(**self.sklearn_config)
        os.umask(self.mask)
        if threading.current_thread() is threading.main_thread():
            for number, handler in self.handlers.items():
                if handler is not None:  # it was not set by Python
                    signal.signal(number, handler)
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, 0.0)


# This module is imported with the checks, before the first of them calls a method. State that a method has changed
# once, to the same value each time, is seen to change only from here.
_AT_START = SharedState()


@contextmanager
def fresh_surroundings(n_threads: int = 1) -> Iterator[Surroundings]:
    """Begin with the shared state of the start of this process; put the present one back at the end."""
    # The global random generators are seeded, and not put back.
    before = SharedState()
    try:
        with warnings.catch_warnings(), threadpool_limits(n_threads):
            _AT_START.restore()
            warnings.resetwarnings()
            warnings.simplefilter("ignore", _Marker)
            surroundings = Surroundings()
            surroundings.begin(_SEED)
            yield surroundings
    finally:
        before.restore()
