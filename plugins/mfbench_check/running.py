"""Run checks: each subject in a child process, which is replaced if a check crashes it or exceeds the time limit."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mfbench.errors import describe_error
from mfbench.host.expressions import Plugin
from mfbench.host.probes import memory_limit
from mfbench.host.registry import HOST, Registry, load_registry
from mfbench.processes.channel import Channel, framed, receive, wait
from mfbench.processes.child import Child, open_child
from mfbench.processes.monitor import Ended
from mfbench.processes.process import describe_exit
from mfbench.processes.temporary import temporary_folder
from mfbench_check.catalog import CHECKS, PRELOADED, SPECS, Check, all_checks, by_needs
from mfbench_check.display import CheckFailedError, CheckOutcome, CheckVerdict, NotApplicableError, NotInstalledError
from mfbench_check.subjects import Opened, Subject

# A check skipped because of a prerequisite is as uninformative as a failed one, so its dependants are skipped too.
UNMET = (CheckOutcome.FAIL, CheckOutcome.SKIPPED)


@dataclass(frozen=True)
class CheckRequest:
    """The request to a child process."""

    subject: Subject
    checks: tuple[str, ...]  # ids, in order
    failed: frozenset[str]  # checks of the subject that did not pass in an earlier child
    plugins: tuple[Plugin, ...]  # the plugins to load: the subject's and the built-in ones
    seed: int


def serve(connection: socket.socket) -> None:
    """Run the requested checks, sending each id before, and each verdict after, the check."""
    message = receive(connection)
    if message is None:
        return
    request: CheckRequest = pickle.loads(message)  # nosec B301  # from the process that started this one

    def send(value: str | CheckVerdict) -> None:
        connection.sendall(framed(pickle.dumps(value)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has already reported the problems
        registry = load_registry(exactly=request.plugins)
    opened = Opened(request.subject, registry, request.seed)
    all_checks()
    failed = set(request.failed)
    process = os.getpid()
    for name in request.checks:
        send(name)
        verdict = make_check(CHECKS[name], opened, failed)
        if os.getpid() != process:
            os._exit(0)  # a method forked and returned in both processes: only the original answers
        if verdict.outcome in UNMET:
            failed.add(name)
        send(verdict)


def make_check(check: Check, opened: Opened, failed: Sequence[str] | set[str] = ()) -> CheckVerdict:
    """Run one check in this process."""
    start = time.perf_counter()
    outcome, reason, expected, seen, snippet = CheckOutcome.PASS, "", "", "", ""
    missing = next((name for name in check.needs if name in failed), "")
    try:
        if missing:
            outcome, reason = CheckOutcome.SKIPPED, f"the check {missing!r}, on which it depends, does not pass"
        else:
            reason = check.function(opened) or ""
    except NotApplicableError as error:
        outcome, reason = CheckOutcome.NOT_APPLICABLE, str(error)
    except NotInstalledError as error:
        outcome, reason = CheckOutcome.SKIPPED, str(error)
    except CheckFailedError as error:
        outcome, expected, seen, snippet = CheckOutcome.FAIL, error.expected, error.seen, error.snippet
    except BaseException as error:  # noqa: BLE001 - any exception from a plugin is a result of the check
        place = traceback.extract_tb(error.__traceback__)[-1]
        outcome, expected = CheckOutcome.FAIL, "the check runs to its end"
        seen = f"{describe_error(error)} ({place.filename}, line {place.lineno})"
    subject = opened.subject
    return CheckVerdict(
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


SECONDS = 120.0  # for one check; scikit-learn's take the longest
_START = 300.0  # until the first check starts: importing a large library takes minutes on a busy machine
# These may be the first fits on arrays of their type; methods that compile code get as long as an import.
_COMPILING = ("fit", "read-only")
_SERVE = "mfbench_check.running:serve"
_TICK = 0.5  # seconds until a thread notices that the run was interrupted


@dataclass(frozen=True)
class Options:
    """How checks are run."""

    seed: int = 0  # seed of all randomness
    seconds: float = SECONDS  # time limit of one check
    jobs: int = 0  # subjects to check concurrently; 0 means one per processor
    skip: Mapping[str, str] = field(default_factory=dict)  # checks to skip, with the reason for each


def run_checks(
    subjects: Sequence[Subject],
    registry: Registry,
    options: Options | None = None,
    only: Iterable[str] | None = None,
    follow: Callable[[CheckVerdict], None] = lambda verdict: None,
) -> list[CheckVerdict]:
    """Run all checks of some subjects."""
    ids = None if only is None else set(only)
    table = [check for check in all_checks() if ids is None or check.id in ids]
    order = [check.id for check in table]
    run = _Run(by_needs(table), registry, options or Options())

    def work(subject: Subject) -> list[CheckVerdict]:
        verdicts = []
        for verdict in _of_subject(subject, run):
            follow(verdict)
            verdicts.append(verdict)
        return sorted(verdicts, key=lambda verdict: order.index(verdict.check))

    with ThreadPoolExecutor(run.options.jobs or len(_processors())) as pool:
        try:
            return [verdict for verdicts in pool.map(work, subjects) for verdict in verdicts]
        finally:
            run.stop.set()  # after Ctrl-C the threads would otherwise finish all checks of their subjects


def checks_of(subject: Subject, table: Iterable[Check]) -> list[Check]:
    """Return the checks in a table that apply to the subject's kind."""
    return [check for check in table if subject.kind in check.kinds]


@dataclass(frozen=True)
class _Run:
    """State shared by the threads of a run."""

    table: Sequence[Check]
    registry: Registry
    options: Options
    stop: threading.Event = field(default_factory=threading.Event)

    def plugins_for(self, subject: Subject) -> tuple[Plugin, ...]:
        """Return the plugins that a child loads; all for a suite, since it may use methods of any plugin."""
        plugins = tuple(self.registry.plugins.values())
        if subject.kind == "suite":
            return plugins
        built_in = tuple(plugin for plugin in plugins if plugin.distribution == HOST)
        return built_in if subject.plugin in built_in else (subject.plugin, *built_in)

    def seconds_for(self, subject: Subject, check: str) -> float:
        """Return the time limit of a check."""
        compiles = check in _COMPILING and getattr(_spec(subject, self.registry), "warm_up", False)
        return max(self.options.seconds, _START) if compiles else self.options.seconds


def judged(verdict: CheckVerdict, declared: Mapping[str, str], *, strict: bool = True) -> CheckVerdict:
    """Return a verdict adjusted for the failures that a spec declares."""
    if verdict.check not in declared:
        return verdict
    if verdict.outcome is CheckOutcome.FAIL:
        return replace(verdict, outcome=CheckOutcome.EXPECTED, reason=declared[verdict.check])
    if verdict.outcome is CheckOutcome.SKIPPED or not strict:
        return verdict
    how = "passes" if verdict.outcome is CheckOutcome.PASS else "is not applicable"
    return replace(
        verdict,
        outcome=CheckOutcome.FAIL,
        reason="",
        expected=f"the failure that the spec declares ({declared[verdict.check]})",
        seen=f"it {how}; remove {verdict.check!r} from expected_failures",
    )


def _of_subject(subject: Subject, run: _Run) -> Iterator[CheckVerdict]:
    """Yield the verdict of each check of a subject."""
    declared: Mapping[str, str] = getattr(_spec(subject, run.registry), "expected_failures", {})
    lost = next((one.sentence for one in run.registry.problems.records if one.plugin == subject.plugin), "")
    is_lost = subject.plugin not in run.registry.plugins.values()
    pending = []
    for check in checks_of(subject, run.table):
        if check.id in run.options.skip:
            yield _verdict(subject, check.id, CheckOutcome.SKIPPED, reason=run.options.skip[check.id])
        elif is_lost:  # no child could load it either
            yield _verdict(subject, check.id, CheckOutcome.FAIL, expected="a plugin that can be loaded", seen=lost)
        else:
            pending.append(check.id)
    failed: set[str] = set()
    while pending and not run.stop.is_set():
        request = CheckRequest(subject, tuple(pending), frozenset(failed), run.plugins_for(subject), run.options.seed)
        for verdict in _of_child(request, run):
            if verdict.outcome in UNMET:
                failed.add(verdict.check)
            pending.remove(verdict.check)
            # Declared failures are observed with the default seed; with another seed, chance may hide a true deviation.
            yield judged(verdict, declared, strict=run.options.seed == Options.seed)


def _spec(subject: Subject, registry: Registry) -> Any:
    """Return the spec of a subject; None for a plugin or a suite."""
    return registry.entry(subject.kind, subject.name).spec if subject.kind in SPECS else None


def _of_child(request: CheckRequest, run: _Run) -> Iterator[CheckVerdict]:
    """Yield the verdicts of one child; if a check ended the child, its verdict is the last."""
    child = open_child(PRELOADED)
    try:
        share = memory_limit() // (run.options.jobs or len(_processors()))
        channel = child.start(_SERVE, memory=share, log=Path(os.devnull), path=sys.path)
        channel.send(pickle.dumps(request))
        yield from _listen(child, channel, request, run)
    finally:
        child.close()


def _listen(child: Child, channel: Channel, request: CheckRequest, run: _Run) -> Iterator[CheckVerdict]:
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
            if isinstance(value, CheckVerdict):
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


def _ended(request: CheckRequest, current: str, how: str) -> CheckVerdict:
    """Return the verdict of the check during which a child ended, or of the first if none had started."""
    check = current or request.checks[0]
    return _verdict(
        request.subject, check, CheckOutcome.FAIL, expected="the check ends and its process goes on", seen=how
    )


def _verdict(subject: Subject, check: str, outcome: CheckOutcome, **texts: str) -> CheckVerdict:
    return CheckVerdict(
        subject=subject.name,
        kind=subject.kind,
        package=subject.plugin.package,
        check=check,
        outcome=outcome,
        **texts,  # type: ignore[arg-type]
    )


def _processors() -> Sequence[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)


_HOME = ("HOME", "USERPROFILE")
_FAMILIES = (2, 10, 23, 30)  # AF_INET, and AF_INET6 on Linux, Windows and macOS; others stay on the machine
_NAME_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


class _Recorder:
    """An audit hook, which cannot be removed from a process: it is inactive while it has no file to record to."""

    def __init__(self) -> None:
        self.descriptor = -1
        self.is_installed = False

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.descriptor < 0 or not event.startswith("socket."):
            return
        if event in _NAME_LOOKUPS or (event == "socket.__new__" and args[1] in _FAMILIES):
            # A file rather than a list, since child processes forked by the method share it.
            os.write(self.descriptor, event.encode() + b"\n")


_RECORDER = _Recorder()


@contextmanager
def recorded_sockets() -> Iterator[list[str]]:
    """Record sockets and host-name lookups in this process and its forks."""
    if not _RECORDER.is_installed:
        sys.addaudithook(_RECORDER)
        _RECORDER.is_installed = True
    events: list[str] = []
    with tempfile.TemporaryFile() as file:
        _RECORDER.descriptor = file.fileno()
        try:
            yield events
        finally:
            _RECORDER.descriptor = -1
            file.seek(0)
            events += file.read().decode().splitlines()


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Use an empty temporary folder as home."""
    before = {name: os.environ.get(name) for name in _HOME}
    with temporary_folder("check") as folder:
        os.environ.update(dict.fromkeys(_HOME, str(folder)))
        try:
            yield folder
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


@contextmanager
def temporary_working_directory() -> Iterator[Path]:
    """Use an empty temporary folder as the working directory."""
    before = Path.cwd()
    with temporary_folder("check") as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def files_in(folder: Path) -> list[str]:
    """Return the relative paths of the files in a folder, except compiler caches beside modules."""
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if not path.is_dir())
    return [path.as_posix() for path in paths if "__pycache__" not in path.parts]
