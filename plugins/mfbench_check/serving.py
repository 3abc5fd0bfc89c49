"""The child process of a check run: it loads one plugin, makes the checks of one subject, and sends each verdict."""

from __future__ import annotations

import os
import pickle
import socket
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from mfbench.errors import describe_error
from mfbench.host.registered import Plugin
from mfbench.host.registry import load_registry
from mfbench.processes.channel import framed, receive
from mfbench_check.catalog import CHECKS, Check
from mfbench_check.listing import all_checks
from mfbench_check.subjects import Opened, Subject
from mfbench_check.verdicts import CheckFailedError, NotApplicableError, Outcome, Verdict

# Skipped by a need of its own, a check is as silent about the method as a failed one: what needs it is skipped as well.
UNMET = (Outcome.FAIL, Outcome.SKIPPED)


@dataclass(frozen=True)
class Request:
    """What a child is asked for."""

    subject: Subject
    checks: tuple[str, ...]  # ids, in order
    failed: frozenset[str]  # checks of the subject that did not pass in an earlier child
    plugins: tuple[Plugin, ...]  # the plugins to load: that of the subject, and the built-in ones
    seed: int


def serve(connection: socket.socket) -> None:
    """Make the checks of a request: before each send its id, after it the verdict."""
    message = receive(connection)
    if message is None:
        return
    request: Request = pickle.loads(message)  # nosec B301  # from the process that started this one

    def send(value: str | Verdict) -> None:
        connection.sendall(framed(pickle.dumps(value)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has named what is left out
        registry = load_registry(exactly=request.plugins)
    opened = Opened(request.subject, registry, request.seed)
    all_checks()
    failed = set(request.failed)
    process = os.getpid()
    for name in request.checks:
        send(name)
        verdict = make_check(CHECKS[name], opened, failed)
        if os.getpid() != process:
            os._exit(0)  # a method has forked and returns in both processes: one answers
        if verdict.outcome in UNMET:
            failed.add(name)
        send(verdict)


def make_check(check: Check, opened: Opened, failed: Sequence[str] | set[str] = ()) -> Verdict:
    """Make one check in this process."""
    start = time.perf_counter()
    outcome, reason, expected, seen, snippet = Outcome.PASS, "", "", "", ""
    missing = next((name for name in check.needs if name in failed), "")
    try:
        if missing:
            outcome, reason = Outcome.SKIPPED, f"the check {missing!r}, on which it depends, does not pass"
        else:
            reason = check.function(opened) or ""
    except NotApplicableError as error:
        outcome, reason = Outcome.NOT_APPLICABLE, str(error)
    except CheckFailedError as error:
        outcome, expected, seen, snippet = Outcome.FAIL, error.expected, error.seen, error.snippet
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is the answer of the check
        place = traceback.extract_tb(error.__traceback__)[-1]
        outcome, expected = Outcome.FAIL, "the check runs to its end"
        seen = f"{describe_error(error)} ({place.filename}, line {place.lineno})"
    subject = opened.subject
    return Verdict(
        subject=subject.name,
        kind=subject.kind,
        package=subject.plugin.package,
        check=check.id,
        outcome=outcome,
        reason=reason,
        expected=expected,
        seen=seen,
        snippet=snippet,
        seconds=round(time.perf_counter() - start, 3),
    )
