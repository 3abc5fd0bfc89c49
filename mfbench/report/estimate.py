"""The estimate of a run's size and cost, on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from mfbench.base.text import counted
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.heading import listed
from mfbench.report.sections.remarks import left_out
from mfbench.run.forecast.estimate import Estimate, Share
from mfbench.run.forecast.order import duration_text
from mfbench.suite.plan import Forecast

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
