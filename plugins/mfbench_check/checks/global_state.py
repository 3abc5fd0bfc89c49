"""Determinism of later code: a fit leaves the process-wide shared state unchanged.

The host compares the same state around every trial, and replaces a process whose state a method has changed.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from mfbench.processes.process import descendants
from mfbench.run.workers.global_state import GlobalState
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError
from mfbench_check.repeating import ESTIMATORS, RESULTS, answer, bits, result_code
from mfbench_check.running import files_in, recorded_sockets, temporary_home, temporary_working_directory
from mfbench_check.subjects import Opened

_SEED = 271_828  # seed of the global generators that a method is unlikely to use
_RANDOM = "the global random state"
_THREADS = ("the number of native threads", "threads (not ended)")
_FILTERS = "the warning filters"
_ENVIRONMENT = "os.environ"
_CHILDREN = "child processes (not ended)"
_OWN_CHECKS = (_RANDOM, *_THREADS, _FILTERS, _ENVIRONMENT)  # prefixes of the phrases that have their own check


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


@check("global-random-state", group="determinism", kinds=ESTIMATORS, needs=RESULTS)
def leaves_global_generators(subject: Opened) -> None:
    """`fit` and `predict` neither change the global random generators of NumPy and Python nor depend on them.

    A method that depends on them is not determined by `random_state`; one that changes or even seeds them determines
    what other code draws afterwards.
    """
    _expect_unchanged(subject, "the global random generators as they were", lambda phrase: phrase.startswith(_RANDOM))
    answers = [_answer_after_seeding(subject, seed) for seed in (1, 2, 1, 2)]
    # A method that does not repeat itself with the same global seed depends on something else.
    if answers[0] == answers[2] != answers[1] == answers[3]:
        rows, result = result_code(subject)
        raise CheckFailedError(
            "the same result whatever the global random generators were seeded with",
            "other seeds of random and np.random give another result",
            subject.snippet(
                "import random",
                *rows,
                f"results = [(np.random.seed(seed), random.seed(seed), {result})[-1] for seed in (1, 2)]",
                "assert np.array_equal(*results), results",
            ),
        )


def _answer_after_seeding(subject: Opened, seed: int) -> bytes:
    with fresh_global_state():
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the global state is the subject
        return bits(answer(subject))


@check("environment", group="determinism", kinds=ESTIMATORS, needs=RESULTS)
def leaves_the_environment(subject: Opened) -> None:
    """`fit` and `predict` leave `os.environ` as it was.

    Environment variables control libraries and child processes for everything that runs later in the process.
    """
    _expect_unchanged(subject, "os.environ as it was", lambda phrase: phrase.startswith(_ENVIRONMENT))


@check("warning-filters", group="determinism", kinds=ESTIMATORS, needs=RESULTS)
def leaves_the_warning_filters(subject: Opened) -> None:
    """`fit` and `predict` leave the warning filters as they were.

    A filter left behind hides the warnings of other methods. `warnings.catch_warnings` removes it with its block.
    """
    _expect_unchanged(subject, "the warning filters as they were", lambda phrase: phrase == _FILTERS)


@check("threads", group="determinism", kinds=ESTIMATORS, needs=RESULTS)
def leaves_threads(subject: Opened) -> None:
    """`fit` and `predict` leave the thread counts of native libraries unchanged, and no thread of their own running.

    A different number of threads changes the time and rounding of every method that runs later in the process.
    """
    for n_threads in (1, 2):  # a method that always sets the same number is detected with the other one
        _expect_unchanged(subject, "threads as they were", lambda phrase: phrase in _THREADS, n_threads)


@check("surroundings", group="determinism", kinds=ESTIMATORS, needs=RESULTS)
def leaves_other_state(subject: Opened) -> None:
    """`fit` and `predict` leave open files, child processes, the working directory and other shared state as they were.

    This also covers `sys.path`, signal handlers and timers, the umask, NumPy's error handling and scikit-learn's
    settings.
    """
    expected = "the shared state of the process as it was"
    _expect_unchanged(subject, expected, lambda phrase: not phrase.startswith(_OWN_CHECKS))


def _expect_unchanged(subject: Opened, expected: str, is_about: Callable[[str], bool], n_threads: int = 1) -> None:
    _use(subject)  # side effects of importing on first use are not part of a fit
    with fresh_global_state(n_threads) as state:
        children = set(descendants())
        _use(subject)
        differences = state.differences()
        # The global state reports only the first child process, which may be left over from an earlier check.
        if set(descendants()) - children and _CHILDREN not in differences:
            differences.append(_CHILDREN)
    if changed := [phrase for phrase in differences if is_about(phrase)]:
        use = "method.fit(X, y)" if subject.kind == "selector" else "method.fit(X, y).predict(X)"
        raise CheckFailedError(
            expected,
            f"changed: {', '.join(changed)}",
            subject.snippet(
                "from mfbench_check.checks.global_state import fresh_global_state",
                f"with fresh_global_state({n_threads}) as state:",
                f"    {use}",
                "    assert not state.changes(), state.changes()",
            ),
        )


def _use(subject: Opened) -> None:
    """Fit a method, let it predict, and drop it; files that only it refers to are closed, as after a trial."""
    X, y = subject.sample()
    method = subject.make().fit(np.array(X), np.array(y))
    if subject.kind == "classifier":
        method.predict(np.array(X))


_MOST = 3  # files in a message


@check("network", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def opens_no_socket(subject: Opened) -> None:
    """`fit` and `predict` open no network socket and look up no host.

    The labels of public datasets can be downloaded, servers may be slow or disappear, and data may be confidential.
    """
    answer(subject)  # side effects of importing on first use are not part of a fit
    with recorded_sockets() as events:
        answer(subject)
    if events:
        raise CheckFailedError(
            "no network socket during fit and predict",
            f"the audit event {events[0]}",
            subject.snippet(
                "from mfbench_check.running import recorded_sockets",
                "with recorded_sockets() as events:",
                f"    {_use_in_folder(subject)}",
                "assert not events, events",
            ),
        )


@check("home", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def writes_nothing_to_home(subject: Opened) -> None:
    """`fit` and `predict` leave no file in the home folder.

    Anything that one fit leaves there, the next can read: rows of another fold, or results. Temporary files belong in
    the folder of `tempfile`, and compiler caches beside the code.
    """
    _expect_no_files(subject, "the home folder", temporary_home, "os.environ['HOME'] = folder")


@check("working-directory", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def writes_nothing_to_the_working_directory(subject: Opened) -> None:
    """`fit` and `predict` leave no file in the working directory.

    It is the run's working directory, which may contain results, and anything that one fit leaves there, the next can
    read.
    """
    _expect_no_files(subject, "the working directory", temporary_working_directory, "os.chdir(folder)")


def _expect_no_files(
    subject: Opened, place: str, temporary: Callable[[], AbstractContextManager[Path]], enter: str
) -> None:
    answer(subject)
    with temporary() as folder:
        answer(subject)
        files = files_in(folder)
    if files:
        more = f" and {len(files) - _MOST} more" if len(files) > _MOST else ""
        raise CheckFailedError(
            f"no file in {place} after fit and predict",
            ", ".join(files[:_MOST]) + more,
            subject.snippet(
                "import os, tempfile",
                "folder = tempfile.mkdtemp()",
                enter,
                _use_in_folder(subject),
                "assert not os.listdir(folder), os.listdir(folder)",
            ),
        )


def _use_in_folder(subject: Opened) -> str:
    return "method.fit(X, y)" if subject.kind == "selector" else "method.fit(X, y).predict(X)"
