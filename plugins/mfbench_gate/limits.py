"""Limits: what counts as worse, by measure; read from the words of the option ``--limit``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mfbench.errors import UnknownNameError, UsageError

TIME, MEMORY = "time", "memory"
DEFAULT_SCORE = 0.01


@dataclass(frozen=True)
class Limits:
    """What counts as worse."""

    time: float = 1.05  # time, memory: ratios of head over base, at least 1: 1.05 accepts five percent more
    memory: float = 1.10
    # Losses of a metric in its own unit: 0.01 accepts one percentage point of accuracy. A metric that is not listed has
    # the limit 0.01.
    scores: Mapping[str, float] = field(default_factory=dict)

    def of(self, measure: str) -> float:
        """Return the limit of a measure: a ratio of time or memory, a difference of a metric."""
        if measure in (TIME, "fit", "predict"):
            return self.time
        return self.memory if measure == MEMORY else self.scores.get(measure, DEFAULT_SCORE)


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the limits that a user wrote; every other measure keeps its default."""
    values: dict[str, float] = {}
    for part in filter(None, map(str.strip, ",".join(texts).split(","))):
        measure, value = _parse(part)
        if measure in values:
            raise UsageError(f"there are two limits of {measure}: write one")
        values[measure] = value
    ratios = {name: values.pop(name) for name in (TIME, MEMORY) if name in values}
    return Limits(**ratios, scores=values)


def _parse(part: str) -> tuple[str, float]:
    """Return the measure and the number of one limit."""
    from mfbench.suite.scores import SCORES

    measure, separator, text = (piece.strip() for piece in part.partition("="))
    if not separator:
        raise UsageError(f"{part!r} is not a limit: write a measure and a number, such as time=1.05 or accuracy=0.01")
    if measure not in (TIME, MEMORY, *SCORES):
        raise UnknownNameError("measure", measure, (TIME, MEMORY, *SCORES))
    is_ratio = measure in (TIME, MEMORY)
    is_share = not is_ratio and SCORES[measure].percent
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (1.0 if is_ratio else 0.0) <= value < (1.0 if is_share else math.inf):
        meaning = "ratio of head over base, at least 1" if is_ratio else "loss, at least 0"
        example = f"{measure}={1.05 if is_ratio else DEFAULT_SCORE}"
        raise UsageError(f"the limit {part!r} is not a {meaning}{' and below 1' * is_share}: write it as in {example}")
    return measure, value
