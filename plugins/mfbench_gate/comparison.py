"""The nouns of a comparison: two sides, the cells that were compared, and a verdict on each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from mfbench.errors import ExitCode


class Verdict(StrEnum):
    """What the measurements say about a cell."""

    WORSE = "worse"
    NO_WORSE = "no worse"
    UNDECIDED = "undecided"
    TREND = "trend"


class Place(NamedTuple):
    """What is measured: a method on a dataset at a size. Benchmarks of other programs have only a method."""

    method: str
    dataset: str = ""
    size: str = ""

    @property
    def name(self) -> str:
        """The parts as one word of a report."""
        return "/".join(filter(None, self))


@dataclass(frozen=True)
class Side:
    """One of the two versions."""

    name: str  # as the user named it: a revision, an interpreter, or a file
    version: str = ""  # what it stands for: a commit, or versions of packages; empty if unknown
    machine: str = ""  # processor and system it was measured on; empty if unknown


@dataclass(frozen=True)
class Cell:
    """One measure of one method on one dataset, on both sides."""

    method: str  # method, dataset: labels; benchmarks of other programs have their name as `method` and no dataset
    dataset: str
    measure: str  # "time" or "memory", or the name of a metric
    base: float  # base, head: median of time or memory, mean of a score; NaN if a side has none
    head: float
    verdict: Verdict
    reason: str = ""  # why, in a few words; of an undecided cell what is missing
    size: str = ""  # size of the subsample, such as `"n=500, p=20"`; empty if there is one only
    unit: str = ""  # "s", "B", or empty for scores
    # ratio, low, high: head over base for time and memory with its confidence interval; NaN for scores.
    ratio: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    # Head minus base for scores, positive if the head is better; NaN for time and memory.
    difference: float = float("nan")
    # Of the hypothesis that both are equal, adjusted for the number of cells; NaN if nothing was tested.
    p_value: float = float("nan")
    n_pairs: int = 0
    # What counts as worse: a ratio such as 1.05 for time and memory, a difference such as 0.01 for scores.
    limit: float = float("nan")
    floor: float = 1.0  # the ratio that noise alone reaches in this job; 1.0 for scores
    # base_values, head_values: the measurements of time or memory, for formats that contain them; empty if they are not
    # available.
    base_values: tuple[float, ...] = ()
    head_values: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Method, dataset and size, as one word of a report."""
        return Place(self.method, self.dataset, self.size).name

    @property
    def head_interval(self) -> tuple[float, float] | None:
        """The interval of the head's value that the interval of the ratio implies; None without one."""
        if not all(map(math.isfinite, (self.ratio, self.low, self.high, self.head))) or self.ratio <= 0:
            return None
        # The median of ratios is not the ratio of medians, so the interval is scaled to lie around the own value.
        return self.head * self.low / self.ratio, self.head * self.high / self.ratio


@dataclass(frozen=True)
class Change:
    """A method whose predictions differ between the two sides on a dataset."""

    method: str
    dataset: str
    n_rows: int  # test rows that were predicted on both sides
    n_changed: int  # those whose prediction differs


@dataclass(frozen=True)
class Omission:
    """Something that could not be compared."""

    name: str  # method, dataset and size
    reason: str  # one sentence


@dataclass
class Comparison:
    """Two sides, cell by cell."""

    base: Side
    head: Side
    title: str = ""  # what was compared: a suite, or two files
    cells: list[Cell] = field(default_factory=list)
    # Changed predictions; a method without one predicts the same on both sides.
    changes: list[Change] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    # Sentences for the reader, such as the number of pairs that a verdict needs.
    notes: list[str] = field(default_factory=list)
    level: float = 0.05  # probability of any false alarm
    seconds: float = float("nan")  # duration of the measurements
    undecided_ok: bool = False  # whether undecided cells count as no worse in the exit code

    def with_verdict(self, verdict: Verdict) -> list[Cell]:
        """Return the cells with a verdict."""
        return [cell for cell in self.cells if cell.verdict is verdict]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command that made the comparison."""
        if not self.cells:
            return ExitCode.NOTHING_MEASURED
        if self.with_verdict(Verdict.WORSE):
            return ExitCode.REGRESSION
        if self.with_verdict(Verdict.UNDECIDED) and not self.undecided_ok:
            return ExitCode.UNDECIDED
        return ExitCode.OK
