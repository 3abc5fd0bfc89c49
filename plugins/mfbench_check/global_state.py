"""The global state of a process, restored to what it was before any method ran."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from mfbench.run.workers.global_state import GlobalState

_SEED = 271_828  # seed of the global generators that a method is unlikely to use


class _Marker(UserWarning):
    """The category of a warning filter that no method sets."""


# This module is imported with the checks, before any method is called. If a method sets some state to the same value in
# every call, the change is only visible relative to this snapshot.
_AT_START = GlobalState()


@contextmanager
def fresh_global_state(n_threads: int = 1) -> Iterator[GlobalState]:
    """Start with the process's initial global state, and restore the current one at the end."""
    # The global random generators are seeded, but not restored.
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
