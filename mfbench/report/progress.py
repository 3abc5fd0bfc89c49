"""Progress of a run, its estimate and downloads, on the terminal: a live display, or plain lines elsewhere."""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich import box, progress
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mfbench.base.console import PlainConsole
from mfbench.base.text import counted, plain_text
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.heading import listed
from mfbench.report.sections.remarks import left_out
from mfbench.run.forecast.estimate import Estimate, Share
from mfbench.run.forecast.order import duration_text
from mfbench.suite.plan import Forecast, Plan

PRIOR = 0.05  # share of the predicted total that counts as already observed, so that the first trials do not dominate
LEAST_PRIOR = 2.0  # lower bound of that share, in seconds over all workers


class Remaining:
    """The remaining time of a run, updated as trials end."""

    def __init__(self, forecast: Forecast, pending: Sequence[Trial], limit: float = math.inf) -> None:
        self.forecast = forecast
        self.limit = limit
        self._running: dict[str, tuple[float, float]] = {}  # predicted and elapsed seconds of each running trial
        self.total = forecast.wall(pending)
        self._number = len(pending)
        self._work = math.fsum(forecast.costs.of(trial).seconds for trial in pending)
        # A prior: as if trials of exactly the predicted duration had ended, since the first few alone would mislead.
        self._predicted = self._actual = max(PRIOR * self._work, LEAST_PRIOR)

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Account for the running trials and their elapsed seconds."""
        self._running = {trial.key: (self.forecast.costs.of(trial).seconds, seconds) for trial, seconds in trials}

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Account for a trial that has ended."""
        self._running.pop(trial.key, None)
        predicted = self.forecast.costs.of(trial).seconds
        self._number -= 1
        self._work -= predicted
        if result.status not in (Status.OK, Status.TIMEOUT) or not math.isfinite(result.duration):
            return  # a failure's duration says nothing about the cost, and a crash has none
        self._predicted += predicted
        self._actual += result.duration

    @property
    def correction(self) -> float:
        """Ratio of actual to predicted durations, from trials that have ended and those already overdue."""
        ended = self._actual / self._predicted
        late = [(predicted, seconds) for predicted, seconds in self._running.values() if seconds > ended * predicted]
        predicted, actual = (math.fsum(part) for part in zip((0.0, 0.0), *late, strict=True))
        return (self._actual + actual) / (self._predicted + predicted)

    @property
    def seconds(self) -> float:
        """Remaining seconds, excluding startup."""
        if self._number <= 0:
            return 0.0
        correction = self.correction
        waiting = max(0.0, self._work - math.fsum(predicted for predicted, _ in self._running.values()))
        rests = [self._rest(correction * predicted, seconds) for predicted, seconds in self._running.values()]
        shared = (waiting * correction + math.fsum(rests)) / min(self.forecast.jobs, self._number)
        return max(shared, *rests, 0.0)

    def _rest(self, expected: float, seconds: float) -> float:
        # With no other information, an overdue trial is expected to take as long again.
        return expected - seconds if seconds <= expected else max(0.0, min(seconds, self.limit - seconds))


def in_words(seconds: float) -> str:
    """Return a duration in its largest significant units, for estimates."""
    if seconds <= 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 10:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{hours} h" if hours < 72 else f"{round(hours / 24)} days"


METHODS = 8  # the most expensive ones
_GIB = 2**30


def show_estimate(estimate: Estimate, suite: str, console: Console) -> None:
    """Print an estimate: size and cost of the run, its datasets, the most expensive methods, and omissions."""
    for line in summary(estimate):
        console.print(line)
    if estimate.pending:
        console.print(_estimate_table("dataset", estimate.datasets))
        console.print(_estimate_table("method", estimate.methods[:METHODS]))
        more = len(estimate.methods) - METHODS
        if more > 0:
            console.print(f"and {counted(more, 'method')} that cost less", style="dim")
    for line in left_out(estimate.left_out, estimate.unavailable, suite):
        console.print(line, style="yellow")


def summary(estimate: Estimate) -> list[str]:
    """Return the sentences above the tables."""
    one, name = estimate, f"{estimate.suite}, profile {estimate.profile}"
    if not one.planned:
        return [f"{name}: nothing is planned"]
    own = one.stored - sum(number for _, number in one.elsewhere)
    stored = [
        f"{own} stored in {one.folder}",
        *(f"{number or 'none'} from {source}" for source, number in one.elsewhere),
    ]
    line = f"{name}: {counted(one.planned, 'trial')}, {', '.join(stored)}"
    if not one.pending:
        return [line, "Nothing is left to run."]
    time = f"{hours(one.seconds)} in all, about {in_words(one.wall)} on {counted(one.jobs, 'worker')}"
    lines = [line, f"To run: {counted(one.pending, 'trial')}, {time}"]
    if one.budget:
        fits = f"about {one.reached} of them, fold by fold, the cheapest first"
        if one.reached in (0, one.pending):
            fits = "all of them" if one.reached else "none of them, as the start takes longer"
        fits += f"; no result of {listed(one.unreached)}" if one.reached and one.unreached else ""
        lines.append(f"Within the budget of {duration_text(one.budget)}: {fits}")
    together = gibibytes(one.jobs * one.worker_memory)
    memory = f"Memory: up to {gibibytes(one.worker_memory)} per worker, {together} in all"
    if one.worker_memory > one.memory_limit:
        memory += f"; a worker is stopped at {gibibytes(one.memory_limit)}, so run it with fewer --jobs"
    return [*lines, memory, *too_long(one.too_long, one.time_limit)]


def too_long(cells: Iterable[tuple[str, str, int]], limit: float) -> list[str]:
    """Return a sentence on trials expected to exceed their time limit; empty if there are none."""
    methods: dict[str, list[str]] = {}
    number = 0
    for dataset, method, trials in cells:
        methods.setdefault(dataset, []).append(method)
        number += trials
    if not number:
        return []
    places = listed([f"{listed(labels)} on {dataset}" for dataset, labels in methods.items()])
    return [
        f"Expected to exceed the time limit of {in_words(limit)}: {counted(number, 'trial')} ({places}). Fewer "
        "training rows (--max-rows) or a longer timeout of the suite change that."
    ]


def hours(seconds: float) -> str:
    """Return a duration in hours, the unit in which machines are booked; short ones in the units of `in_words`."""
    if seconds < 360:
        return in_words(seconds)
    return f"{seconds / 3600:.{2 if seconds < 3600 else 1 if seconds < 36000 else 0}f} h"


def gibibytes(amount: int) -> str:
    """Return an amount of memory in GiB."""
    return f"{amount / _GIB:.1f} GiB"


def _estimate_table(heading: str, shares: Sequence[Share]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(heading, overflow="fold")
    for name in ("trials", "time", "longest trial", "memory of a trial"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in shares:
        megabytes = f"{one.memory / 2**20:.0f} MiB"
        table.add_row(one.name, str(one.trials), in_words(one.seconds), in_words(one.longest), megabytes)
    return table


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
        self.total = Counter(trial.dataset for trial in plan.trials)
        self.done = Counter(trial.dataset for trial in done)
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
        """Open the display, or open it again for another plan."""
        self.close()
        super().started(plan, done, pending)
        self._end = time.monotonic() + self.remaining.total
        columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeElapsedColumn())
        title = progress.TextColumn("{task.description}")
        left = progress.TextColumn("left [progress.remaining]{task.fields[left]}")
        self._progress = progress.Progress(title, *columns, left, console=self.console)
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


def is_plain(console: Console) -> bool:
    """Return whether to print progress as lines: without a terminal, or if NO_COLOR or CI is set."""
    return not console.is_terminal or "NO_COLOR" in os.environ or bool(os.environ.get("CI"))


class Downloads:
    """Displays downloads: as bars on a terminal, otherwise as lines."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bars: progress.Progress | None = None

    def __enter__(self) -> Downloads:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Display a new download and return a function to update it with the bytes received and expected."""
        if is_plain(self.console):
            self.console.print(f"fetching {key}")
            return lambda done, total: None
        if self._bars is None:
            columns = (progress.BarColumn(), progress.DownloadColumn(), progress.TransferSpeedColumn())
            title = progress.TextColumn("{task.description}", markup=False)
            self._bars = progress.Progress(title, *columns, console=self.console, transient=True)
            self._bars.start()
        bars, task = self._bars, self._bars.add_task(f"fetching {key}", total=None)
        return lambda done, total: bars.update(task, completed=done, total=total)
