"""Progress of a run: a live display on a terminal, otherwise plain lines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from mfbench.base.text import counted, plain_text
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.estimate import Remaining, in_words, too_long
from mfbench.report.listings import PlainConsole
from mfbench.report.pages import is_plain
from mfbench.report.sections.remarks import left_out
from mfbench.suite.plan import Plan

PLAIN_SECONDS = 10.0
LONGEST_PAUSE = 300.0  # seconds between two lines while no trial ends
LONGEST_MESSAGE = 2000  # in characters
DATASETS_DISPLAYED = 12
SLOW_DISPLAYED = 4
MOST_FAILURES = 5


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
    """Counts trials by dataset and estimates the remaining time."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.total: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._begun: dict[str, tuple[float, Trial]] = {}

    def remarked(self, remark: str) -> None:
        """Print the remark."""
        self.console.print(remark, style="yellow")

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        self.total.update(trial.dataset for trial in plan.trials)
        self.done.update(trial.dataset for trial in done)
        forecast, protocol, shard = plan.forecast, plan.loaded.protocol, plan.shard
        assert forecast is not None  # set by `execute` before this call
        self.remaining = Remaining(forecast, pending, protocol.timeout)
        folds = plan.protocol.repeats * plan.protocol.folds
        datasets, methods = counted(len(plan.datasets), "dataset"), counted(len(plan.methods), "method")
        total = len(plan.trials) if shard is None else shard.n_trials
        size = f" of {datasets} and {methods}"
        if total == len(plan.datasets) * len(plan.methods) * folds:  # false for a sampled plan
            size = f" ({datasets} × {methods} × {counted(folds, plan.protocol.trial_name)})"
        part = "" if shard is None else f"shard {shard.number} of {shard.of} with {len(plan.trials)} of "
        line = f"{plan.loaded.suite.suite.name}, profile {plan.loaded.profile}: {part}{counted(total, 'trial')}{size}"
        line += f", {len(done)} done before" if done else ""
        if pending:
            workers = counted(min(forecast.jobs, len(pending)), "worker")
            line += f", about {in_words(self.remaining.total)} on {workers}"
        for remark in left_out(plan.left_out, plan.unavailable, plan.loaded.request[0]):
            self.remarked(remark)
        self.console.print(line)
        for remark in too_long(forecast.too_long(pending), protocol.timeout):
            self.remarked(remark)

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        self.remaining.running(trials)
        now = time.monotonic()
        self._begun = {trial.key: (now - seconds, trial) for trial, seconds in trials}

    @property
    def slow(self) -> list[str]:
        """The trials that have been running for a while, with their elapsed seconds, longest first."""
        now = time.monotonic()
        times = [(now - begun, trial) for begun, trial in list(self._begun.values())]
        late = sorted((each for each in times if each[0] >= PLAIN_SECONDS), key=lambda each: -each[0])
        return [f"{trial.method} on {trial.dataset} for {in_words(seconds)}" for seconds, trial in late]

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self.remaining.finished(trial, result)
        self._begun.pop(trial.key, None)
        self.done[trial.dataset] += 1
        if result.status is Status.OK:
            return
        self.failed[trial.dataset] += 1
        if self.failed.total() <= MOST_FAILURES:
            reason = plain_text(f"{result.error_type}: {result.error_message}", LONGEST_MESSAGE)
            place = f"{trial.method} on {trial.dataset}, repeat {trial.repeat}, fold {trial.fold}"
            self.console.print(f"{result.status}: {place}: {reason}", style="red")


class PlainProgress(_Counting):
    """Prints a line from time to time, for logs and pipes."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Print the size of the run."""
        super().started(plan, done, pending)
        self._last = self._ended = time.monotonic()
        self._pause = PLAIN_SECONDS

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Print the longest-running trial while no trial ends, at increasing intervals."""
        super().running(trials)
        now = time.monotonic()
        if now - self._last < self._pause:
            return
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._print(f"now {self.slow[0]}" if self.slow else f"no result for {in_words(now - self._ended)}")

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Print the number of finished trials if the last line is a few seconds old or the run is complete."""
        super().finished(trial, result)
        self._ended, self._pause = time.monotonic(), PLAIN_SECONDS
        if self._ended - self._last >= PLAIN_SECONDS or self.done.total() == self.total.total():
            self._print(f"now {self.slow[0] if self.slow else trial.dataset}")

    def _print(self, state: str) -> None:
        self._last = time.monotonic()
        failed = f", {self.failed.total()} failed" if self.failed.total() else ""
        done, left = f"{self.done.total()}/{self.total.total()} trials", in_words(self.remaining.seconds)
        self.console.print(f"{done}, {left} left{failed}, {state}")


class LiveProgress(_Counting):
    """Displays a bar for the run, the datasets in progress, the number of failures and the remaining time."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Open the display."""
        super().started(plan, done, pending)
        self._end = time.monotonic() + self.remaining.total
        left = TextColumn("left [progress.remaining]{task.fields[left]}")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left)
        self._progress = Progress(*columns, console=self.console)
        self._task = self._progress.add_task("trials", total=self.total.total(), left="")
        self._live = Live(self, console=self.console, refresh_per_second=4, transient=True)
        self._live.start()

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Show the trials that have been running for a while."""
        super().running(trials)
        if trials:  # otherwise the countdown simply continues
            self._end = time.monotonic() + self.remaining.seconds

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Advance the display."""
        super().finished(trial, result)
        self._end = time.monotonic() + self.remaining.seconds

    def close(self) -> None:
        """Remove the display."""
        if hasattr(self, "_live"):
            self._live.stop()

    def __rich__(self) -> RenderableType:
        done, seconds = self.done.total(), max(1.0, self._end - time.monotonic())
        left = in_words(seconds if done < self.total.total() else 0.0)
        self._progress.update(self._task, completed=done, left=left)
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
    """Return a display that prints lines if this process is a notebook kernel, and nothing otherwise."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    # Print plain lines, since a notebook shows each rich call as a separate block.
    return PlainProgress(PlainConsole(force_jupyter=False, width=160)) if hasattr(shell, "kernel") else Silent()


def follow(console: Console) -> Silent:
    """Return the display for a console: live on a terminal, lines elsewhere and if NO_COLOR or CI is set."""
    return PlainProgress(console) if is_plain(console) else LiveProgress(console)
