"""The data model of a comparison: two sides, the compared cells, and a verdict on each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from mfbench.base.text import counted
from mfbench.errors import ExitCode, UnknownNameError, UsageError
from mfbench.model.evaluation import Score

if TYPE_CHECKING:
    from mfbench.stats.results import Run


class CellVerdict(StrEnum):
    """The conclusion on a cell."""

    WORSE = "worse"
    NO_WORSE = "no worse"
    UNDECIDED = "undecided"
    TREND = "trend"


class MeasuredCase(NamedTuple):
    """The subject of a measurement: a method on a dataset at a size. Third-party benchmarks only have a method."""

    method: str
    dataset: str = ""
    size: str = ""

    @property
    def name(self) -> str:
        """All parts joined into one word for reports."""
        return "/".join(filter(None, self))


@dataclass(frozen=True)
class Side:
    """One of the two versions."""

    name: str  # as named by the user: a revision, an interpreter, or a file
    version: str = ""  # the resolved version: a commit, or package versions; empty if unknown
    machine: str = ""  # processor and system of the measurement; empty if unknown


@dataclass(frozen=True)
class ComparedCell:
    """One measure of one method on one dataset, on both sides."""

    method: str  # method, dataset: labels; third-party benchmarks have their name as `method` and no dataset
    dataset: str
    measure: str  # "time" or "memory", or the name of a metric
    base: float  # base, head: median time or memory, mean score; NaN if a side has none
    head: float
    verdict: CellVerdict
    reason: str = ""  # a short reason; for an undecided cell, what is missing
    size: str = ""  # size of the subsample (`"n=500, p=20"`); empty if there is only one
    unit: str = ""  # "s", "B", or empty for scores
    # ratio, low, high: ratio of head to base for time and memory, with its confidence interval; NaN for scores.
    ratio: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    # Head minus base for scores, positive if the head is better; NaN for time and memory.
    difference: float = float("nan")
    # p-value for equality, adjusted for the number of cells; NaN if nothing was tested.
    p_value: float = float("nan")
    n_pairs: int = 0
    # What counts as worse: a ratio (1.05) for time and memory, a difference (0.01) for scores.
    limit: float = float("nan")
    greater_is_better: bool = False  # the direction of a score
    floor: float = 1.0  # the ratio that noise alone reaches in this job; 1.0 for scores
    # base_values, head_values: the individual time or memory measurements, for formats that include them; empty if
    # unavailable.
    base_values: tuple[float, ...] = ()
    head_values: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Method, dataset and size, as one word for reports."""
        return MeasuredCase(self.method, self.dataset, self.size).name

    @property
    def head_interval(self) -> tuple[float, float] | None:
        """The head value's interval, derived from the interval of the ratio; None without one."""
        if not all(map(math.isfinite, (self.ratio, self.low, self.high, self.head))) or self.ratio <= 0:
            return None
        # The median of ratios is not the ratio of medians, so rescale the interval around the head's own value.
        return self.head * self.low / self.ratio, self.head * self.high / self.ratio


@dataclass(frozen=True)
class ChangedPredictions:
    """A method whose predictions on a dataset differ between the two sides."""

    method: str
    dataset: str
    n_rows: int  # test rows predicted on both sides
    n_changed: int  # test rows with different predictions


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
    cells: list[ComparedCell] = field(default_factory=list)
    # Changed predictions; methods not listed predict the same on both sides.
    changes: list[ChangedPredictions] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    # Sentences for the reader, for example the number of pairs that a verdict needs.
    notes: list[str] = field(default_factory=list)
    level: float = 0.05  # probability of any false alarm
    seconds: float = float("nan")  # duration of the measurements
    undecided_ok: bool = False  # whether undecided cells count as no worse in the exit code

    def with_verdict(self, verdict: CellVerdict) -> list[ComparedCell]:
        """Return the cells with a verdict."""
        return [cell for cell in self.cells if cell.verdict is verdict]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command that made the comparison."""
        if not self.cells:
            return ExitCode.NOTHING_MEASURED
        if self.with_verdict(CellVerdict.WORSE):
            return ExitCode.REGRESSION
        if self.with_verdict(CellVerdict.UNDECIDED) and not self.undecided_ok:
            return ExitCode.UNDECIDED
        return ExitCode.OK


MARKS = {CellVerdict.WORSE: "✗", CellVerdict.UNDECIDED: "?", CellVerdict.NO_WORSE: "✓", CellVerdict.TREND: "~"}
"""The symbol of each verdict, always printed with its name."""
NOTHING = "–"
_STEPS = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    "B": [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")],
}


def headline(comparison: Comparison) -> str:
    """Return the outcome of a comparison in one sentence, without a period."""
    total = len(comparison.cells)
    counts = {verdict: len(comparison.with_verdict(verdict)) for verdict in CellVerdict}
    judged = total - counts[CellVerdict.TREND]
    if not total:
        return "Nothing was compared"
    if counts[CellVerdict.WORSE]:
        also = f", undecided: {counts[CellVerdict.UNDECIDED]}" if counts[CellVerdict.UNDECIDED] else ""
        return f"Worse: {counts[CellVerdict.WORSE]} of {counted(judged, 'cell')}{also}"
    if counts[CellVerdict.UNDECIDED]:
        return f"Undecided: {counts[CellVerdict.UNDECIDED]} of {counted(judged, 'cell')}, none is worse"
    if not judged:
        return f"No verdict: {counted(total, 'cell')} without measurements that compare"
    which = "the only cell" if judged == 1 else f"all {judged} cells"
    return f"No worse: {which}" + (" with a verdict" if judged < total else "")


def amount(value: float, unit: str) -> str:
    """Return a number with a readable unit."""
    if not math.isfinite(value):
        return NOTHING
    if unit not in _STEPS:
        return f"{value:.4f}"
    factor, name = next((step for step in _STEPS[unit] if abs(value) >= step[0]), _STEPS[unit][-1])
    return f"{value / factor:.3g} {name}" if value else f"0 {unit}"


def change(cell: ComparedCell) -> str:
    """Return how the head differs from the base: in percent with the interval, or as a score difference."""
    if math.isfinite(cell.ratio):
        interval = math.isfinite(cell.low) and math.isfinite(cell.high)
        limits = f" ({_percent(cell.low)} … {_percent(cell.high)})" if interval else ""
        return f"{_percent(cell.ratio)} %{limits}"
    return _signed(cell.difference, 4) if math.isfinite(cell.difference) else NOTHING


def changed_versions(base: Mapping[str, str], head: Mapping[str, str]) -> str:
    """Return a sentence on the packages whose versions differ; empty if there are none."""
    names = dict.fromkeys([*base, *head])
    changed = [
        f"{name} {base.get(name, 'absent')} → {head.get(name, 'absent')}"
        for name in names
        if base.get(name) != head.get(name)
    ]
    return f"Versions differ: {', '.join(changed)}." if changed else ""


def _percent(ratio: float) -> str:
    return _signed(100.0 * (ratio - 1.0), 1)


def _signed(value: float, digits: int) -> str:
    """Return a number with its sign; zero and values rounded to zero get a plus."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


BENCHMARK_FILE = "pytest-benchmark file"


Series = Mapping[tuple[int, int], float]
"""Seconds or bytes by repeat and fold; benchmark rounds count as folds."""


@dataclass
class StoredResult:
    """One side of a comparison, as read."""

    side: Side
    kind: str  # "run", "timing run", "ground-truth run" or "pytest-benchmark file"; kinds are not comparable
    title: str  # the suite's title, or the file's name
    # times, memory: seconds of wall time, and bytes; in the order of the result.
    times: dict[MeasuredCase, Series] = field(default_factory=dict)
    memory: dict[MeasuredCase, Series] = field(default_factory=dict)
    run: Run | None = None  # source of scores and predictions; None for third-party benchmarks
    libraries: dict[str, str] = field(default_factory=dict)  # package versions used for the result
    omissions: list[Omission] = field(default_factory=list)  # unusable parts of the result


TIME, MEMORY = "time", "memory"
DEFAULT_SCORE = 0.01


@dataclass(frozen=True)
class WorseLimits:
    """What counts as worse."""

    time: float = 1.05  # time, memory: ratios of head to base, at least 1: 1.05 accepts five percent more
    memory: float = 1.10
    # Accepted losses in metric units: 0.01 accepts one percentage point of accuracy.
    scores: Mapping[str, float] = field(default_factory=dict)

    def of(self, measure: str) -> float:
        """Return the limit of time or memory, a ratio."""
        return self.memory if measure == MEMORY else self.time

    def of_score(self, metric: str, score: Score, base: float) -> float:
        """Return the limit of a metric, a difference; by default its margin, which of a score in units is a share."""
        return self.scores.get(metric, score.margin * abs(base) if score.in_units else score.margin)


def parse_limits(texts: Iterable[str]) -> WorseLimits:
    """Parse the user's limits; all other measures keep their defaults."""
    values: dict[str, float] = {}
    for part in filter(None, map(str.strip, re.split(r",(?![^(]*\))", ",".join(texts)))):
        measure, value = _parse(part)
        if measure in values:
            raise UsageError(f"there are two limits of {measure}: write one")
        values[measure] = value
    ratios = {name: values.pop(name) for name in (TIME, MEMORY) if name in values}
    return WorseLimits(**ratios, scores=values)


def _parse(part: str) -> tuple[str, float]:
    """Return the measure and value of one limit."""
    measure, separator, text = (piece.strip() for piece in part.rpartition("="))
    if not separator or not measure or ")" in text:
        raise UsageError(f"{part!r} is not a limit: write a measure and a number, such as time=1.05 or accuracy=0.01")
    is_ratio = measure in (TIME, MEMORY)
    is_share = False
    if not is_ratio:
        measure, score = _score(measure)
        is_share = score.percent
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (1.0 if is_ratio else 0.0) <= value < (1.0 if is_share else math.inf):
        meaning = "ratio of head over base, at least 1" if is_ratio else "loss, at least 0"
        example = f"{measure}={1.05 if is_ratio else DEFAULT_SCORE}"
        raise UsageError(f"the limit {part!r} is not a {meaning}{' and below 1' * is_share}: write it as in {example}")
    return measure, value


def _score(measure: str) -> tuple[str, Score]:
    """Return the canonical name of a measure that is neither time nor memory, and what it means."""
    from mfbench.host.registry import load_registry
    from mfbench.suite.loading import score_named

    registry = load_registry()
    try:
        return score_named(measure, registry)
    except UnknownNameError:
        raise UnknownNameError("measure", measure, (TIME, MEMORY, *registry.listed("metric"))) from None
