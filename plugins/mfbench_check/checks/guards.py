"""Leakage through the outside: a method neither asks the network nor leaves files for a later fit."""

from __future__ import annotations

from collections.abc import Sequence

from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, RESULTS, answer
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError
from mfbench_check.watching import files_in, recorded_sockets, temporary_home, temporary_working_directory

_MOST = 3  # files in a message


@check("network", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def opens_no_socket(subject: Opened) -> None:
    """`fit` and `predict` open no network socket and look up no host.

    Labels of public datasets can be downloaded, a server may be slow or gone tomorrow, and data may be confidential.
    """
    answer(subject)  # what an import does on first use is not part of a fit
    with recorded_sockets() as events:
        answer(subject)
    if events:
        raise CheckFailedError(
            "no network socket during fit and predict",
            f"the audit event {events[0]}",
            subject.snippet(
                "from mfbench_check.watching import recorded_sockets",
                "with recorded_sockets() as events:",
                f"    {_use(subject)}",
                "assert not events, events",
            ),
        )


@check("home", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def writes_nothing_to_home(subject: Opened) -> None:
    """`fit` and `predict` leave no file in the home folder.

    What one fit leaves there, the next one can read: rows of another fold, or results. Temporary files belong in the
    folder of `tempfile`, and the caches of compilers beside the code.
    """
    answer(subject)
    with temporary_home() as folder:
        answer(subject)
        files = files_in(folder)
    if files:
        raise CheckFailedError(
            "no file in the home folder after fit and predict",
            _listed(files),
            subject.snippet(
                "import os, tempfile",
                "os.environ['HOME'] = folder = tempfile.mkdtemp()",
                _use(subject),
                "assert not os.listdir(folder), os.listdir(folder)",
            ),
        )


@check("working-directory", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def writes_nothing_to_the_working_directory(subject: Opened) -> None:
    """`fit` and `predict` leave no file in the working directory.

    It is that of a run, whose results it may hold; and what one fit leaves there, the next one can read.
    """
    answer(subject)
    with temporary_working_directory() as folder:
        answer(subject)
        files = files_in(folder)
    if files:
        raise CheckFailedError(
            "no file in the working directory after fit and predict",
            _listed(files),
            subject.snippet(
                "import os, tempfile",
                "os.chdir(tempfile.mkdtemp())",
                _use(subject),
                "assert not os.listdir(), os.listdir()",
            ),
        )


def _use(subject: Opened) -> str:
    return "method.fit(X, y)" if subject.kind == "selector" else "method.fit(X, y).predict(X)"


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MOST} more" if len(files) > _MOST else ""
    return ", ".join(files[:_MOST]) + more
