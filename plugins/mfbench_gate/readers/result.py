"""The noun of the readers: a stored result with its costs, whatever it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mfbench_gate.comparison import Omission, Place, Side

if TYPE_CHECKING:
    from mfbench.stats.results import Run

BENCHMARK_FILE = "pytest-benchmark file"


Series = Mapping[tuple[int, int], float]
"""Seconds or bytes by repeat and fold; rounds of a benchmark count as folds."""


@dataclass
class StoredResult:
    """One side of a comparison, as read."""

    side: Side
    kind: str  # "run", "timing run", "ground-truth run" or "pytest-benchmark file"; only results of one kind compare
    title: str  # the suite's title, or the name of the file
    # times, memory: seconds of wall time, and bytes; in the order of the result.
    times: dict[Place, Series] = field(default_factory=dict)
    memory: dict[Place, Series] = field(default_factory=dict)
    run: Run | None = None  # where scores and predictions come from; a benchmark of another program has none
    libraries: dict[str, str] = field(default_factory=dict)  # versions of what the result was computed with
    omissions: list[Omission] = field(default_factory=list)  # what the result holds but cannot be used
