"""The global state of a process, put back to what it was before any method ran."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from mfbench.run.workers.global_state import GlobalState

_SEED = 271_828  # of the global generators: one that a method will hardly seed them with


class _Marker(UserWarning):
    """The category of a filter that no method sets."""


# This module is imported with the checks, before the first of them calls a method. State that a method has changed
# once, to the same value each time, is seen to change only from here.
_AT_START = GlobalState()


@contextmanager
def fresh_global_state(n_threads: int = 1) -> Iterator[GlobalState]:
    """Begin with the global state of the start of this process; put the present one back at the end."""
    # The global random generators are seeded, and not put back.
    before = GlobalState()
    try:
        with warnings.catch_warnings(), threadpool_limits(n_threads):
            _AT_START.restore()
            warnings.resetwarnings()
            warnings.simplefilter("ignore", _Marker)
            state = GlobalState()
            state.begin(_SEED)
            yield state
    finally:
        before.restore()
