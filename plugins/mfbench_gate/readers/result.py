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
    """One side of a comparison, as read.

    Attributes
    ----------
    side : Side
    kind : str
        "run", "timing run", "ground-truth run" or "pytest-benchmark file"; only results of one kind compare.
    title : str
        The suite's title, or the name of the file.
    times, memory : dict of Place to Series
        Seconds of wall time, and bytes; in the order of the result.
    run : Run or None
        Where scores and predictions come from; a benchmark of another program has none.
    libraries : dict of str to str
        Versions of what the result was computed with.
    omissions : list of Omission
        What the result holds but cannot be used.
    """

    side: Side
    kind: str
    title: str
    times: dict[Place, Series] = field(default_factory=dict)
    memory: dict[Place, Series] = field(default_factory=dict)
    run: Run | None = None
    libraries: dict[str, str] = field(default_factory=dict)
    omissions: list[Omission] = field(default_factory=list)
