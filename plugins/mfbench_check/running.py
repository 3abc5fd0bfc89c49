"""Running checks: each subject in a child process, which is replaced when a check ends it or takes too long."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mfbench.host.probes import SHARED, memory_limit
from mfbench.host.registered import Plugin
from mfbench.host.registry import HOST, Registry
from mfbench.processes.channel import Channel, wait
from mfbench.processes.child import Child, open_child
from mfbench.processes.keeper import Ended
from mfbench.processes.process import describe_exit
from mfbench_check.catalog import Check
from mfbench_check.listing import all_checks, by_needs
from mfbench_check.serving import UNMET, Request
from mfbench_check.subjects import Subject
from mfbench_check.verdicts import Outcome, Verdict

SECONDS = 120.0  # of one check; scikit-learn's take the longest
_START = 300.0  # until the first check begins: importing a large library takes minutes on a busy machine
# These may be the first to fit with arrays of their kind; a method that compiles code gets as long as an import.
_COMPILING = ("fit", "read-only")
_SERVE = "mfbench_check.serving:serve"
_TICK = 0.5  # after which a thread notices that the run was interrupted


@dataclass(frozen=True)
class Options:
    """How checks are run."""

    seed: int = 0  # of everything random
    seconds: float = SECONDS  # time limit of one check
    jobs: int = 0  # subjects that are checked at the same time; 0 means one per processor
    skip: Mapping[str, str] = field(default_factory=dict)  # checks to leave out, each with the reason


def run_checks(
    subjects: Sequence[Subject],
    registry: Registry,
    options: Options | None = None,
    only: Iterable[str] | None = None,
    follow: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Make all checks of some subjects."""
    ids = None if only is None else set(only)
    table = [check for check in all_checks() if ids is None or check.id in ids]
    order = [check.id for check in table]
    run = _Run(by_needs(table), registry, options or Options())

    def work(subject: Subject) -> list[Verdict]:
        verdicts = []
        for verdict in _of_subject(subject, run):
            follow(verdict)
            verdicts.append(verdict)
        return sorted(verdicts, key=lambda verdict: order.index(verdict.check))

    with ThreadPoolExecutor(run.options.jobs or len(_processors())) as pool:
        try:
            return [verdict for verdicts in pool.map(work, subjects) for verdict in verdicts]
        finally:
            run.stop.set()  # after Ctrl-C the threads would go on to the end of their subjects


def checks_of(subject: Subject, table: Iterable[Check]) -> list[Check]:
    """Return the checks of a table that apply to the kind of a subject."""
    return [check for check in table if subject.kind in check.kinds]


@dataclass(frozen=True)
class _Run:
    """What the threads of a run share."""

    table: Sequence[Check]
    registry: Registry
    options: Options
    stop: threading.Event = field(default_factory=threading.Event)

    def plugins_for(self, subject: Subject) -> tuple[Plugin, ...]:
        """Return the plugins that a child loads: of a suite all, because it may name the methods of any."""
        plugins = tuple(self.registry.plugins.values())
        if subject.kind == "suite":
            return plugins
        built_in = tuple(plugin for plugin in plugins if plugin.distribution == HOST)
        return built_in if subject.plugin in built_in else (subject.plugin, *built_in)

    def seconds_for(self, subject: Subject, check: str) -> float:
        """Return the time limit of a check."""
        compiles = check in _COMPILING and getattr(_spec(subject, self.registry), "warm_up", False)
        return max(self.options.seconds, _START) if compiles else self.options.seconds


def judged(verdict: Verdict, declared: Mapping[str, str], *, strict: bool = True) -> Verdict:
    """Return a verdict that takes the failures into account that a spec declares."""
    if verdict.check not in declared:
        return verdict
    if verdict.outcome is Outcome.FAIL:
        return replace(verdict, outcome=Outcome.EXPECTED, reason=declared[verdict.check])
    if verdict.outcome is Outcome.SKIPPED or not strict:
        return verdict
    how = "passes" if verdict.outcome is Outcome.PASS else "is not applicable"
    return replace(
        verdict,
        outcome=Outcome.FAIL,
        reason="",
        expected=f"the failure that the spec declares ({declared[verdict.check]})",
        seen=f"it {how}; remove {verdict.check!r} from expected_failures",
    )


def _of_subject(subject: Subject, run: _Run) -> Iterator[Verdict]:
    """Yield the verdict of each check of a subject."""
    declared: Mapping[str, str] = getattr(_spec(subject, run.registry), "expected_failures", {})
    lost = next((one.sentence for one in run.registry.problems.records if one.plugin == subject.plugin), "")
    is_lost = subject.plugin not in run.registry.plugins.values()
    pending = []
    for check in checks_of(subject, run.table):
        if check.id in run.options.skip:
            yield _verdict(subject, check.id, Outcome.SKIPPED, reason=run.options.skip[check.id])
        elif is_lost:  # no child can load it either
            yield _verdict(subject, check.id, Outcome.FAIL, expected="a plugin that can be loaded", seen=lost)
        else:
            pending.append(check.id)
    failed: set[str] = set()
    while pending and not run.stop.is_set():
        request = Request(subject, tuple(pending), frozenset(failed), run.plugins_for(subject), run.options.seed)
        for verdict in _of_child(request, run):
            if verdict.outcome in UNMET:
                failed.add(verdict.check)
            pending.remove(verdict.check)
            # What a spec declares was seen with the usual seed; with another one, chance may hide a true deviation.
            yield judged(verdict, declared, strict=run.options.seed == Options.seed)


def _spec(subject: Subject, registry: Registry) -> Any:
    """Return the spec of a selector, classifier or dataset; None for any other subject."""
    lookups = {"selector": registry.selector, "classifier": registry.classifier, "dataset": registry.dataset}
    return lookups[subject.kind](subject.name).spec if subject.kind in lookups else None


def _of_child(request: Request, run: _Run) -> Iterator[Verdict]:
    """Yield the verdicts of one child; the last one is that of the check which ended it, if one did."""
    child = open_child(SHARED)
    try:
        share = memory_limit() // (run.options.jobs or len(_processors()))
        channel = child.start(_SERVE, memory=share, log=Path(os.devnull), path=sys.path)
        channel.send(pickle.dumps(request))
        yield from _listen(child, channel, request, run)
    finally:
        child.close()


def _listen(child: Child, channel: Channel, request: Request, run: _Run) -> Iterator[Verdict]:
    current, left, seconds = "", len(request.checks), max(run.options.seconds, _START)
    deadline = time.monotonic() + seconds
    while left and not run.stop.is_set():
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            yield _ended(request, current, f"it took longer than {seconds:g} s and was stopped")
            return
        wait([child.control, channel], min(remaining, _TICK))
        channel.flush()
        ended = next((event for event in child.events() if isinstance(event, Ended)), None)
        for message in channel.messages():
            value = pickle.loads(message)  # nosec B301  # from a child of this process
            if isinstance(value, Verdict):
                left -= 1
                yield value
            else:
                current, seconds = str(value), run.seconds_for(request.subject, str(value))
                deadline = time.monotonic() + seconds
        if left and ended is not None:
            how = "its memory limit was reached" if ended.is_memory else f"the process {describe_exit(ended.code)}"
            yield _ended(request, current, how)
            return
        if left and child.control.is_closed:
            yield _ended(request, current, "the process and its monitor were killed")
            return


def _ended(request: Request, current: str, how: str) -> Verdict:
    """Return the verdict of the check during which a child ended; the first one if none had begun."""
    check = current or request.checks[0]
    return _verdict(request.subject, check, Outcome.FAIL, expected="the check ends and its process goes on", seen=how)


def _verdict(subject: Subject, check: str, outcome: Outcome, **texts: str) -> Verdict:
    return Verdict(
        subject=subject.name,
        kind=subject.kind,
        package=subject.plugin.package,
        check=check,
        outcome=outcome,
        **texts,  # type: ignore[arg-type]
    )


def _processors() -> Sequence[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
