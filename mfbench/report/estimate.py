"""What a run would do and cost, on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from mfbench.base.wording import counted
from mfbench.report.answer import listed
from mfbench.report.remaining import in_words
from mfbench.report.sections.remarks import left_out
from mfbench.run.forecast.budget import duration_text
from mfbench.run.forecast.estimate import Estimate, Share

METHODS = 8  # the most expensive ones
_GIB = 2**30


def show_estimate(estimate: Estimate, suite: str, console: Console) -> None:
    """Print an estimate: size and cost of the run, its datasets, the most expensive methods, what is left out."""
    for line in summary(estimate):
        console.print(line)
    if estimate.pending:
        console.print(_table("dataset", estimate.datasets))
        console.print(_table("method", estimate.methods[:METHODS]))
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
    """Return a sentence on trials that are expected to exceed their time limit; none if there are none."""
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
    """Return a duration in hours, by which machines are booked; one of a few minutes in the units of `in_words`."""
    if seconds < 360:
        return in_words(seconds)
    return f"{seconds / 3600:.{2 if seconds < 3600 else 1 if seconds < 36000 else 0}f} h"


def gibibytes(amount: int) -> str:
    """Return an amount of memory in GiB."""
    return f"{amount / _GIB:.1f} GiB"


def _table(heading: str, shares: Sequence[Share]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(heading, overflow="fold")
    for name in ("trials", "time", "longest trial", "memory of a trial"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in shares:
        megabytes = f"{one.memory / 2**20:.0f} MiB"
        table.add_row(one.name, str(one.trials), in_words(one.seconds), in_words(one.longest), megabytes)
    return table
