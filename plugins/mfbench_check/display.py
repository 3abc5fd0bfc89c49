"""The results of a check run and their display: progress, and a report that shows each failure in full."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from mfbench.base.junit import Case, document
from mfbench.base.text import counted, plain_text
from mfbench.errors import ExitCode
from mfbench.report.cells import seconds
from mfbench.report.progress import is_plain
from mfbench.report.render.files import json_text, read_schema
from mfbench_check.catalog import CHECKS, GROUPS, Check


class CheckOutcome(StrEnum):
    """The outcome of a check on a subject."""

    PASS = "pass"
    FAIL = "fail"
    EXPECTED = "expected failure"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, kw_only=True)
class CheckVerdict:
    """The result of one check on one subject."""

    subject: str  # its name
    kind: str  # one of `mfbench_check.catalog.KINDS`
    package: str  # the package that registers the subject
    check: str  # id of the check
    outcome: CheckOutcome
    reason: str = ""  # why it was skipped, is not applicable or is expected to fail; for a pass, the check's remark
    expected: str = ""  # expected, seen: for a failure
    seen: str = ""
    snippet: str = ""  # for a failure: at most ten lines of Python code that demonstrate it; may be empty
    seconds: float = 0.0


class CheckFailedError(Exception):
    """A subject does not meet a check's expectation."""

    def __init__(self, expected: str, seen: str, snippet: str = "") -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected, self.seen, self.snippet = expected, seen, snippet


class NotInstalledError(Exception):
    """The subject needs a package that is not installed."""


class NotApplicableError(Exception):
    """A check requires something that the subject does not have."""


NAME, VERSION = "mfbench-check", 1
"""The format of the JSON document and its version, which increases if a key is removed or changed."""
SCHEMA = "check.schema.json"
_TESTED = (CheckOutcome.PASS, CheckOutcome.FAIL, CheckOutcome.EXPECTED)
_JUNIT: dict[CheckOutcome, Literal["passed", "failed", "skipped"]] = {
    CheckOutcome.PASS: "passed",
    CheckOutcome.FAIL: "failed",
}


@dataclass(frozen=True)
class CheckReport:
    """The verdicts of a check run."""

    verdicts: tuple[CheckVerdict, ...]  # one per check and subject, grouped by subject
    seed: int = 0
    # Versions of Python, the numeric libraries, mfbench, and the packages whose plugins were checked.
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # duration of the run

    @property
    def failures(self) -> tuple[CheckVerdict, ...]:
        """The unexpected failures."""
        return self.of(CheckOutcome.FAIL)

    def of(self, outcome: CheckOutcome) -> tuple[CheckVerdict, ...]:
        """Return the verdicts with an outcome."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)

    @property
    def counts(self) -> dict[CheckOutcome, int]:
        """Number of verdicts with each outcome."""
        counts = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: counts[outcome] for outcome in CheckOutcome}

    @property
    def subjects(self) -> tuple[tuple[str, str], ...]:
        """The kind and name of each subject."""
        return tuple(dict.fromkeys((verdict.kind, verdict.subject) for verdict in self.verdicts))

    @property
    def exit_code(self) -> ExitCode:
        """The command's exit code: 0 if no check failed, 1 if one did, 3 if nothing was checked."""
        if self.failures:
            return ExitCode.FAILED
        return ExitCode.OK if any(self.counts[outcome] for outcome in _TESTED) else ExitCode.NOTHING_MEASURED

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if not self.verdicts:
            return (
                "nothing was checked: no third-party plugin is installed; name what to check, or check the built-in "
                "plugins with --package mfbench"
            )
        names = {
            CheckOutcome.FAIL: "failed",
            CheckOutcome.PASS: "passed",
            CheckOutcome.EXPECTED: "failed as declared",
            CheckOutcome.SKIPPED: "skipped",
            CheckOutcome.NOT_APPLICABLE: "not applicable",
        }
        numbers = ", ".join(f"{self.counts[one]} {name}" for one, name in names.items() if self.counts[one])
        return f"{counted(len(self.verdicts), 'check')} of {counted(len(self.subjects), 'subject')}: {numbers}"

    def to_json(self) -> str:
        """Return the report as JSON; `schema` describes the document."""
        content = {
            "schema": {"name": NAME, "version": VERSION},
            "headline": self.headline,
            "exit_code": int(self.exit_code),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "versions": dict(self.versions),
            "counts": {str(outcome): number for outcome, number in self.counts.items()},
            "verdicts": [{"group": group_of(verdict), **asdict(verdict)} for verdict in self.verdicts],
        }
        return json_text(content)

    def to_junit(self) -> str:
        """Return the report as JUnit XML with one test case per verdict; an expected failure counts as skipped."""
        return document(
            "mfbench check",
            [_case(verdict) for verdict in self.verdicts],
            properties=[("seed", str(self.seed)), *self.versions.items()],
            lines=[self.headline],
            seconds=self.seconds,
        )


def group_of(verdict: CheckVerdict) -> str:
    """Return the group of a verdict's check; "" if the check no longer exists."""
    return CHECKS[verdict.check].group if verdict.check in CHECKS else ""


def explanation(verdict: CheckVerdict) -> str:
    """Return the explanation of a failure, in lines: expectation, observation, and code that demonstrates it."""
    lines = [
        f"{verdict.kind} {verdict.subject} fails the check {verdict.check}",
        f"expected: {verdict.expected}",
        f"seen: {verdict.seen}",
    ]
    return "\n".join([*lines, "", verdict.snippet] if verdict.snippet else lines)


def _case(verdict: CheckVerdict) -> Case:
    is_failure = verdict.outcome is CheckOutcome.FAIL
    other = f"{verdict.outcome}: {verdict.reason}"
    return Case(
        group=f"{verdict.kind}.{verdict.subject}",
        name=verdict.check,
        outcome=_JUNIT.get(verdict.outcome, "skipped"),
        message=f"expected {verdict.expected}; seen: {verdict.seen}" if is_failure else other,
        kind=group_of(verdict),
        details=explanation(verdict),
        seconds=verdict.seconds,
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents written by `CheckReport.to_json`."""
    return read_schema(__package__, SCHEMA)


PLAIN_SECONDS = 10.0
NAMES_SHOWN = 5
MARKS = {CheckOutcome.PASS: "✓", CheckOutcome.FAIL: "✗", CheckOutcome.EXPECTED: "!"}
# Colour only highlights: a symbol is printed as well.
STYLES = {CheckOutcome.PASS: "green", CheckOutcome.FAIL: "bold red", CheckOutcome.EXPECTED: "yellow"}
_PLURALS = {
    "selector": "Selectors",
    "classifier": "Classifiers",
    "regressor": "Regressors",
    "metric": "Metrics",
    "splitter": "Splitters",
    "protocol": "Protocols",
    "dataset": "Datasets",
    "suite": "Suites",
    "plugin": "Plugins",
}
_LONGEST = 2000  # maximum number of characters of plugin text


def show_checks(report: CheckReport, console: Console) -> None:
    """Print a check run: a table per kind of subject, each failure in full, and everything that was not checked."""
    for kind, title in _PLURALS.items():
        if own := [verdict for verdict in report.verdicts if verdict.kind == kind]:
            _show_table(title, own, console)
    if report.verdicts:
        console.print(Text("✓ passed   ✗ failed   ! failed as declared", style="dim"))
    _show_failures(report.failures, console)
    _show_grouped("Failed as declared", report, CheckOutcome.EXPECTED, console)
    _show_grouped("Skipped", report, CheckOutcome.SKIPPED, console)
    _show_grouped("Not applicable", report, CheckOutcome.NOT_APPLICABLE, console)
    growth = [verdict for verdict in report.of(CheckOutcome.PASS) if verdict.reason and group_of(verdict) == "growth"]
    _show_list("Growth", [f"{_short_name(verdict, report)}: {verdict.reason}" for verdict in growth], console)
    style = STYLES[CheckOutcome.FAIL] if report.failures else STYLES[CheckOutcome.PASS] if report.verdicts else "yellow"
    duration = f", in {seconds(report.seconds)}, seed {report.seed}" if report.verdicts else ""
    console.print()
    console.print(_text(report.headline + duration, style))


def _show_table(title: str, verdicts: Sequence[CheckVerdict], console: Console) -> None:
    groups = [group for group in GROUPS if any(group_of(verdict) == group for verdict in verdicts)]
    subjects = dict.fromkeys(verdict.subject for verdict in verdicts)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))  # fits into 80 columns
    table.add_column(f"{title} ({len(subjects)})", overflow="fold")
    for group in groups:
        table.add_column(group, no_wrap=True)
    for subject in subjects:
        own = [verdict for verdict in verdicts if verdict.subject == subject]
        name = _text(subject, "bold")
        for verdict in own:
            if verdict.outcome is CheckOutcome.FAIL:
                name.append(f"\n✗ {plain_text(verdict.check)}", style=STYLES[CheckOutcome.FAIL])
        table.add_row(name, *(_counts([one for one in own if group_of(one) == group]) for group in groups))
    console.print()
    console.print(table)


def _counts(verdicts: Sequence[CheckVerdict]) -> Text:
    """Return the number of checks in a group by outcome; a dash if none was run."""
    text = Text()
    for outcome, mark in MARKS.items():
        if number := sum(verdict.outcome is outcome for verdict in verdicts):
            text.append(" " if text else "").append(f"{number}{mark}", style=STYLES[outcome])
    return text or Text("–", style="dim")


def _show_failures(failures: Sequence[CheckVerdict], console: Console) -> None:
    if failures:
        console.print()
        console.print(Text("Failures", style="bold"))
    for verdict in failures:
        console.print()
        console.print(_text(f"✗ {_name(verdict)}: {verdict.check}", STYLES[CheckOutcome.FAIL]))
        grid = Table.grid(padding=(0, 2))
        grid.add_row(Text("expected", style="dim"), _text(verdict.expected))
        grid.add_row(Text("seen", style="dim"), _text(verdict.seen))
        console.print(Padding(grid, (0, 0, 0, 2)))
        if verdict.snippet:
            console.print()
        for line in verdict.snippet.splitlines():
            # Do not wrap, however long the line: wrapped code cannot be copied.
            console.print(Text(f"    {_code(line)}"), soft_wrap=True, highlight=False)


def _show_grouped(title: str, report: CheckReport, outcome: CheckOutcome, console: Console) -> None:
    """Print checks with their reasons, grouping those with the same reason in one line."""
    groups: dict[str, list[CheckVerdict]] = {}
    for verdict in report.of(outcome):
        groups.setdefault(verdict.reason, []).append(verdict)
    lines = []
    for reason, verdicts in groups.items():
        checks = list(dict.fromkeys(verdict.check for verdict in verdicts))
        names = list(dict.fromkeys(_short_name(verdict, report) for verdict in verdicts))
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        subjects = ", ".join(names[:NAMES_SHOWN]) + more
        # Otherwise a single check that others depend on would fill the screen.
        what = checks[0] if len(checks) == 1 else counted(len(checks), "check")
        lines.append(f"{what}: {reason} ({subjects})")
    _show_list(title, lines, console)


def _show_list(title: str, lines: Sequence[str], console: Console) -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, style="bold"))
    grid = Table.grid(padding=(0, 1))
    for line in lines:
        grid.add_row(Text("-"), _text(line))
    console.print(grid)


def show_catalog(checks: Sequence[Check], console: Console) -> None:
    """Print all checks with their groups, the kinds they apply to, and their expectations."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("check", "group", "applies to", "what is expected"):
        table.add_column(name, no_wrap=name in ("check", "group"), overflow="fold")
    for check in checks:
        table.add_row(Text(check.id, style="bold"), check.group, ", ".join(check.kinds), Text(check.summary))
    console.print(table)


class CheckProgress:
    """Shows the number of completed checks: as a bar on a terminal, otherwise as a line from time to time."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._plain = is_plain(console)
        self._lock = threading.Lock()  # subjects are checked by several threads
        self._done = self._failed = 0
        self._last = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, verdict: CheckVerdict, total: int) -> None:
        """Count a verdict."""
        with self._lock:
            self._done += 1
            self._failed += verdict.outcome is CheckOutcome.FAIL
            failed = f", {self._failed} failed" if self._failed else ""
            if self._plain:
                self._print(f"{self._done}/{counted(total, 'check')}{failed}, now {_name(verdict)}", total)
            else:
                self._advance(f"checks{failed}", total)

    def interrupted(self) -> None:
        """Print how far the run got."""
        failed = f", {self._failed} failed" if self._failed else ""
        self.close()
        self.console.print(_text(f"Interrupted after {counted(self._done, 'check')}{failed}; nothing was written"))

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _print(self, line: str, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= PLAIN_SECONDS and self._done < total:
            self._last = now
            self.console.print(_text(line))

    def _advance(self, description: str, total: int) -> None:
        if self._bar is None:
            name = TextColumn("{task.description}", markup=False)
            columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=self.console, transient=True)
            self._bar.add_task("checks", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], advance=1, description=description)


def _name(verdict: CheckVerdict) -> str:
    return f"{verdict.subject} ({verdict.kind})"


def _short_name(verdict: CheckVerdict, report: CheckReport) -> str:
    """Return a subject's name, with its kind only if another subject in the run shares the name."""
    kinds = [kind for kind, name in report.subjects if name == verdict.subject]
    return verdict.subject if len(kinds) == 1 else _name(verdict)


def _text(text: str, style: str = "") -> Text:
    """Return text for literal display, without markup and control characters."""
    return Text(plain_text(text, _LONGEST), style=style)


def _code(line: str) -> str:
    """Return a line of code with its indentation, without control characters."""
    return "".join(sign for sign in line.replace("\t", "    ") if sign.isprintable())
