"""Progress of a run: a live display on a terminal, otherwise plain lines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from mfbench.base.untrusted import plain_text
from mfbench.base.wording import counted
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.console import PlainConsole
from mfbench.report.downloads import is_plain
from mfbench.report.estimate import too_long
from mfbench.report.remaining import Remaining, in_words
from mfbench.report.sections.remarks import left_out
from mfbench.suite.plan import Plan

PLAIN_SECONDS = 10.0
LONGEST_PAUSE = 300.0  # seconds between two lines while no trial ends
LONGEST_MESSAGE = 2000  # characters
DATASETS_DISPLAYED = 12
SLOW_DISPLAYED = 4


class Silent:
    """Displays nothing."""

    def remarked(self, remark: str) -> None:
        """Do nothing."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Do nothing."""

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Do nothing."""

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class _Counting(Silent):
    """Counts trials by dataset, and estimates the time left."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.total: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._begun: dict[str, tuple[float, Trial]] = {}

    def remarked(self, remark: str) -> None:
        """Print the remark."""
        self.console.print(remark, style="yellow", markup=False, highlight=False)

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        self.total.update(trial.dataset for trial in plan.trials)
        self.done.update(trial.dataset for trial in done)
        for line in left_out(plan.left_out, plan.unavailable, plan.loaded.request[0]):
            self.console.print(line, style="yellow", markup=False, highlight=False)
        assert plan.forecast is not None  # `execute` makes it before it calls this
        self.remaining = Remaining(plan.forecast, pending, plan.loaded.protocol.timeout)
        resumed = f", {len(done)} done before" if done else ""
        shard = plan.shard
        part = "" if shard is None else f"shard {shard.number} of {shard.of} with {len(plan.trials)} of "
        total = len(plan.trials) if shard is None else shard.n_trials
        if pending:
            workers = counted(min(plan.forecast.jobs, len(pending)), "worker")
            resumed += f", about {in_words(self.remaining.total)} on {workers}"
        folds = plan.protocol.repeats * plan.protocol.folds
        is_whole = total == len(plan.datasets) * len(plan.methods) * folds  # unlike a sample of a plan
        datasets, methods = counted(len(plan.datasets), "dataset"), counted(len(plan.methods), "method")
        size = f" ({datasets} × {methods} × {counted(folds, plan.protocol.trial_name)})"
        if not is_whole:
            size = f" of {datasets} and {methods}"
        self.console.print(
            f"{plan.loaded.suite.suite.name}, profile {plan.loaded.profile}: "
            f"{part}{counted(total, 'trial')}{size}{resumed}",
            highlight=False,
            markup=False,
        )
        for line in too_long(plan.forecast.too_long(pending), plan.loaded.protocol.timeout):
            self.console.print(line, style="yellow", markup=False, highlight=False)

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        self.remaining.running(trials)
        now = time.monotonic()
        self._begun = {trial.key: (now - seconds, trial) for trial, seconds in trials}

    @property
    def slow(self) -> list[str]:
        """The trials that have run for some time, each with this time, the longest first."""
        now = time.monotonic()
        times = sorted(((now - begun, trial) for begun, trial in list(self._begun.values())), key=lambda each: -each[0])
        return [
            f"{trial.method} on {trial.dataset} for {in_words(seconds)}"
            for seconds, trial in times
            if seconds >= PLAIN_SECONDS
        ]

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self.remaining.finished(trial, result)
        self._begun.pop(trial.key, None)
        self.done[trial.dataset] += 1
        if result.status is not Status.OK:
            self.failed[trial.dataset] += 1
            if self.failed.total() <= 5:
                self.console.print(
                    f"{result.status}: {trial.method} on {trial.dataset}, repeat {trial.repeat}, fold {trial.fold}: "
                    + plain_text(f"{result.error_type}: {result.error_message}", LONGEST_MESSAGE),
                    style="red",
                    markup=False,
                    highlight=False,
                )


class PlainProgress(_Counting):
    """Prints a line from time to time, for logs and pipes."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Print the size of the run."""
        super().started(plan, done, pending)
        self._last = self._ended = time.monotonic()
        self._pause = PLAIN_SECONDS

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Print the trial that has run longest if no trial ends, each time after a longer pause."""
        super().running(trials)
        now = time.monotonic()
        if now - self._last < self._pause:
            return
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._print(f"now {self.slow[0]}" if self.slow else f"no result for {in_words(now - self._ended)}")

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Print the number of finished trials if the last line is some seconds old or the run is complete."""
        super().finished(trial, result)
        self._ended, self._pause = time.monotonic(), PLAIN_SECONDS
        if self._ended - self._last >= PLAIN_SECONDS or self.done.total() == self.total.total():
            self._print(f"now {self.slow[0] if self.slow else trial.dataset}")

    def _print(self, state: str) -> None:
        self._last = time.monotonic()
        failed = f", {self.failed.total()} failed" if self.failed.total() else ""
        left = in_words(self.remaining.seconds)
        self.console.print(
            f"{self.done.total()}/{self.total.total()} trials, {left} left{failed}, {state}",
            highlight=False,
        )


class _TimeLeft(ProgressColumn):
    """The time left when the last trial ended, less what has passed since."""

    def __init__(self) -> None:
        super().__init__()
        self.update(0.0)

    def update(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def render(self, task: Task) -> Text:
        left = max(0.0, self._end - time.monotonic())
        return Text(in_words(0.0 if task.finished else max(1.0, left)), style="progress.remaining")


class LiveProgress(_Counting):
    """Displays a bar for the run, the datasets in progress, the number of failures and the time left."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Open the display."""
        super().started(plan, done, pending)
        self._left = _TimeLeft()
        self._left.update(self.remaining.total)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            self._left,
            console=self.console,
        )
        self._task: TaskID = self._progress.add_task("trials", total=self.total.total(), completed=self.done.total())
        self._live = Live(self, console=self.console, refresh_per_second=4, transient=True)
        self._live.start()

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Show the trials that have run for some time."""
        super().running(trials)
        if trials:  # else the time left goes on as it is
            self._left.update(self.remaining.seconds)

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Advance the display."""
        super().finished(trial, result)
        self._left.update(self.remaining.seconds)
        self._progress.advance(self._task)

    def close(self) -> None:
        """Remove the display."""
        if hasattr(self, "_live"):
            self._live.stop()

    def __rich__(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        in_progress = [name for name in self.total if 0 < self.done[name] < self.total[name]]
        finished = sum(self.done[name] == self.total[name] for name in self.total)
        for name in in_progress[:DATASETS_DISPLAYED]:
            failed = f"{self.failed[name]} failed" if self.failed[name] else ""
            table.add_row(Text(name), f"{self.done[name]}/{self.total[name]}", Text(failed, style="red"))
        state = Text(f"{finished} of {len(self.total)} datasets done", style="dim")
        if self.failed.total():
            state.append(f", {self.failed.total()} trials failed", style="red")
        return Group(self._progress, table, *(Text(f"now {text}") for text in self.slow[:SLOW_DISPLAYED]), state)


def follow_in_notebook() -> Silent:
    """Return a display that prints lines if this process is the kernel of a notebook, and nothing elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    # Lines of text: a notebook would show each call of rich as a block of its own.
    return PlainProgress(PlainConsole(force_jupyter=False, width=160)) if hasattr(shell, "kernel") else Silent()


def follow(console: Console) -> Silent:
    """Return the display for a console: live on a terminal, lines elsewhere and if NO_COLOR or CI is set."""
    return PlainProgress(console) if is_plain(console) else LiveProgress(console)
