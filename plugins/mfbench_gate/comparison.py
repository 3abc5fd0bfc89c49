"""The nouns of a comparison: two sides, the cells that were compared, and a verdict on each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from mfbench.errors import ExitCode


class Verdict(StrEnum):
    """What the measurements say about a cell.

    Attributes
    ----------
    WORSE
        The head is worse by more than the limit and more than the noise of the machine.
    NO_WORSE
        The head is worse by less than the limit, if at all.
    UNDECIDED
        Neither is shown.
    TREND
        The two sides were not measured together, so times do not compare: the numbers are shown without a verdict.
    """

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
        """The parts as one word of a report.

        Examples
        --------
        >>> Place("RFF", "wine", "n=100").name, Place("test_fit").name
        ('RFF/wine/n=100', 'test_fit')
        """
        return "/".join(filter(None, self))


@dataclass(frozen=True)
class Side:
    """One of the two versions.

    Attributes
    ----------
    name : str
        As the user named it: a revision, an interpreter, or a file.
    version : str
        What it stands for: a commit, or versions of packages; empty if unknown.
    machine : str
        Processor and system it was measured on; empty if unknown.
    """

    name: str
    version: str = ""
    machine: str = ""


@dataclass(frozen=True)
class Cell:
    """One measure of one method on one dataset, on both sides.

    Attributes
    ----------
    method, dataset : str
        Labels; benchmarks of other programs have their name as `method` and no dataset.
    size : str
        Size of the subsample, such as ``"n=500, p=20"``; empty if there is one only.
    measure : str
        "time" or "memory", or the name of a metric.
    unit : str
        "s", "B", or empty for scores.
    base, head : float
        Median of time or memory, mean of a score; NaN if a side has none.
    verdict : Verdict
    reason : str
        Why, in a few words; of an undecided cell what is missing.
    ratio, low, high : float
        Head over base for time and memory with its confidence interval; NaN for scores.
    difference : float
        Head minus base for scores, positive if the head is better; NaN for time and memory.
    p_value : float
        Of the hypothesis that both are equal, adjusted for the number of cells; NaN if nothing was tested.
    n_pairs : int
    limit : float
        What counts as worse: a ratio such as 1.05 for time and memory, a difference such as 0.01 for scores.
    floor : float
        The ratio that noise alone reaches in this job; 1.0 for scores.
    base_values, head_values : tuple of float
        The measurements of time or memory, for formats that contain them; empty if they are not available.
    """

    method: str
    dataset: str
    measure: str
    base: float
    head: float
    verdict: Verdict
    reason: str = ""
    size: str = ""
    unit: str = ""
    ratio: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    difference: float = float("nan")
    p_value: float = float("nan")
    n_pairs: int = 0
    limit: float = float("nan")
    floor: float = 1.0
    base_values: tuple[float, ...] = ()
    head_values: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Method, dataset and size, as one word of a report."""
        return Place(self.method, self.dataset, self.size).name

    @property
    def head_interval(self) -> tuple[float, float] | None:
        """The interval of the head's value that the interval of the ratio implies; None without one.

        Examples
        --------
        >>> Cell("RFF", "wine", "time", 1.0, 3.0, Verdict.WORSE, ratio=2.0, low=1.0, high=4.0).head_interval
        (1.5, 6.0)
        """
        if not all(map(math.isfinite, (self.ratio, self.low, self.high, self.head))) or self.ratio <= 0:
            return None
        # The median of ratios is not the ratio of medians, so the interval is scaled to lie around the own value.
        return self.head * self.low / self.ratio, self.head * self.high / self.ratio


@dataclass(frozen=True)
class Change:
    """A method whose predictions differ between the two sides on a dataset.

    Attributes
    ----------
    method, dataset : str
    n_rows : int
        Test rows that were predicted on both sides.
    n_changed : int
        Those whose prediction differs.
    """

    method: str
    dataset: str
    n_rows: int
    n_changed: int


@dataclass(frozen=True)
class Omission:
    """Something that could not be compared.

    Attributes
    ----------
    name : str
        Method, dataset and size.
    reason : str
        One sentence.
    """

    name: str
    reason: str


@dataclass
class Comparison:
    """Two sides, cell by cell.

    Attributes
    ----------
    base, head : Side
    title : str
        What was compared: a suite, or two files.
    cells : list of Cell
    changes : list of Change
        Changed predictions; a method without one predicts the same on both sides.
    omissions : list of Omission
    notes : list of str
        Sentences for the reader, such as the number of pairs that a verdict needs.
    level : float
        Probability of any false alarm.
    seconds : float
        Duration of the measurements.
    undecided_ok : bool
        Whether undecided cells count as no worse in the exit code.

    Examples
    --------
    >>> both = Comparison(Side("main"), Side("HEAD"))
    >>> int(both.exit_code)
    3
    >>> both.cells.append(Cell("RFF", "wine", "time", 1.0, 2.0, Verdict.WORSE))
    >>> int(both.exit_code)
    4
    """

    base: Side
    head: Side
    title: str = ""
    cells: list[Cell] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    level: float = 0.05
    seconds: float = float("nan")
    undecided_ok: bool = False

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
