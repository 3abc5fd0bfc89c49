"""A check run on a terminal: its progress, and a report that shows each failure in full."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from mfbench.base.untrusted import plain_text
from mfbench.base.wording import counted
from mfbench.report.cells import seconds
from mfbench.report.downloads import is_plain
from mfbench_check.catalog import GROUPS, Check
from mfbench_check.result import CheckReport, group_of
from mfbench_check.verdicts import Outcome, Verdict

PLAIN_SECONDS = 10.0
NAMES_SHOWN = 5
MARKS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.EXPECTED: "!"}
# A mark is printed as well: colour only helps to find it.
STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.EXPECTED: "yellow"}
_PLURALS = {
    "selector": "Selectors",
    "classifier": "Classifiers",
    "dataset": "Datasets",
    "suite": "Suites",
    "plugin": "Plugins",
}
_LONGEST = 2000  # characters of a text of a plugin


def show_checks(report: CheckReport, console: Console) -> None:
    """Print a check run: a table of each kind of subject, each failure in full, and everything that was not checked."""
    for kind, title in _PLURALS.items():
        if own := [verdict for verdict in report.verdicts if verdict.kind == kind]:
            _show_table(title, own, console)
    if report.verdicts:
        console.print(Text("✓ passed   ✗ failed   ! failed as declared", style="dim"))
    _show_failures(report.failures, console)
    _show_grouped("Failed as declared", report, Outcome.EXPECTED, console)
    _show_grouped("Skipped", report, Outcome.SKIPPED, console)
    _show_grouped("Not applicable", report, Outcome.NOT_APPLICABLE, console)
    growth = [verdict for verdict in report.of(Outcome.PASS) if verdict.reason and group_of(verdict) == "growth"]
    _show_list("Growth", [f"{_short_name(verdict, report)}: {verdict.reason}" for verdict in growth], console)
    style = STYLES[Outcome.FAIL] if report.failures else STYLES[Outcome.PASS] if report.verdicts else "yellow"
    duration = f", in {seconds(report.seconds)}, seed {report.seed}" if report.verdicts else ""
    console.print()
    console.print(_text(report.headline + duration, style))


def _show_table(title: str, verdicts: Sequence[Verdict], console: Console) -> None:
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
            if verdict.outcome is Outcome.FAIL:
                name.append(f"\n✗ {plain_text(verdict.check)}", style=STYLES[Outcome.FAIL])
        table.add_row(name, *(_counts([one for one in own if group_of(one) == group]) for group in groups))
    console.print()
    console.print(table)


def _counts(verdicts: Sequence[Verdict]) -> Text:
    """Return how many checks of a group had each outcome; a dash if none was made."""
    text = Text()
    for outcome, mark in MARKS.items():
        if number := sum(verdict.outcome is outcome for verdict in verdicts):
            text.append(" " if text else "").append(f"{number}{mark}", style=STYLES[outcome])
    return text or Text("–", style="dim")


def _show_failures(failures: Sequence[Verdict], console: Console) -> None:
    if failures:
        console.print()
        console.print(Text("Failures", style="bold"))
    for verdict in failures:
        console.print()
        console.print(_text(f"✗ {_name(verdict)}: {verdict.check}", STYLES[Outcome.FAIL]))
        grid = Table.grid(padding=(0, 2))
        grid.add_row(Text("expected", style="dim"), _text(verdict.expected))
        grid.add_row(Text("seen", style="dim"), _text(verdict.seen))
        console.print(Padding(grid, (0, 0, 0, 2)))
        if verdict.snippet:
            console.print()
        for line in verdict.snippet.splitlines():
            # As it is, however long: a line that is folded cannot be copied.
            console.print(Text(f"    {_code(line)}"), soft_wrap=True, highlight=False)


def _show_grouped(title: str, report: CheckReport, outcome: Outcome, console: Console) -> None:
    """Print checks with their reasons, those of the same reason in one line."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in report.of(outcome):
        groups.setdefault(verdict.reason, []).append(verdict)
    lines = []
    for reason, verdicts in groups.items():
        checks = list(dict.fromkeys(verdict.check for verdict in verdicts))
        names = list(dict.fromkeys(_short_name(verdict, report) for verdict in verdicts))
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        subjects = ", ".join(names[:NAMES_SHOWN]) + more
        # A check that others depend on would otherwise fill a screen.
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
    """Print all checks with their groups, what they apply to, and what they expect."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("check", "group", "applies to", "what is expected"):
        table.add_column(name, no_wrap=name in ("check", "group"), overflow="fold")
    for check in checks:
        table.add_row(Text(check.id, style="bold"), check.group, ", ".join(check.kinds), Text(check.summary))
    console.print(table)


class CheckProgress:
    """Shows how many checks have been made: a bar on a terminal, otherwise a line from time to time."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._plain = is_plain(console)
        self._lock = threading.Lock()  # subjects are checked by several threads
        self._done = self._failed = 0
        self._last = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, verdict: Verdict, total: int) -> None:
        """Count a verdict."""
        with self._lock:
            self._done += 1
            self._failed += verdict.outcome is Outcome.FAIL
            failed = f", {self._failed} failed" if self._failed else ""
            if self._plain:
                self._print(f"{self._done}/{counted(total, 'check')}{failed}, now {_name(verdict)}", total)
            else:
                self._advance(f"checks{failed}", total)

    def interrupted(self) -> None:
        """Print how far the run came."""
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


def _name(verdict: Verdict) -> str:
    return f"{verdict.subject} ({verdict.kind})"


def _short_name(verdict: Verdict, report: CheckReport) -> str:
    """Return the name of a subject, with its kind only if the run has another subject of that name."""
    kinds = [kind for kind, name in report.subjects if name == verdict.subject]
    return verdict.subject if len(kinds) == 1 else _name(verdict)


def _text(text: str, style: str = "") -> Text:
    """Return text that a terminal shows as it is, without markup and control characters."""
    return Text(plain_text(text, _LONGEST), style=style)


def _code(line: str) -> str:
    """Return a line of code with its indentation, without control characters."""
    return "".join(sign for sign in line.replace("\t", "    ") if sign.isprintable())
