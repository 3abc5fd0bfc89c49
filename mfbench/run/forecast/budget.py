"""A budget of time for a run: the order in which a fair table grows, and the moment after which nothing runs."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from mfbench.errors import UsageError
from mfbench.model.trials import Trial

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = r"(?:(\d+(?:\.\d*)?)\s*{}\s*)?"
_DURATION = re.compile("".join(_PART.format(unit) for unit in _UNITS))


class Budget:
    """The wall time that a run may take, counted from the moment when this object is made."""

    def __init__(
        self,
        seconds: float,
        cells: int = 1,
        predict: Callable[[Trial], float | None] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.cells = cells
        self._predict = predict
        self._now = now
        self.deadline = now() + seconds

    @property
    def remaining(self) -> float:
        """Seconds that are left, 0 if none are."""
        return max(0.0, self.deadline - self._now())

    @property
    def is_over(self) -> bool:
        """Whether no trial may start or go on."""
        return self._now() >= self.deadline

    def admits(self, trial: Trial) -> bool:
        """Return whether a trial may start now: there is time left, and as much as it is predicted to take."""
        remaining = self.remaining
        if self._predict is None or not remaining:
            return remaining > 0.0
        seconds = self._predict(trial)
        return seconds is None or seconds <= remaining


def in_rounds(
    trials: Sequence[Trial], done: Collection[str], seconds: Mapping[str, float] | None = None
) -> list[Trial]:
    """Return the trials that are still to run, in the order in which all cells advance evenly."""
    # A round runs one fold of every dataset with all its methods. All methods of a dataset take its folds in the same
    # order, so after each round they have the same folds. A dataset that is behind, because of an earlier run that
    # ended in between, catches up first. Its folds that lack the fewest methods come first.
    pending = [trial for trial in trials if trial.key not in done]
    missing = Counter((trial.dataset, trial.repeat, trial.fold) for trial in pending)
    # As many folds of a dataset are complete as need nothing: they are the rounds that it has behind it.
    folds = dict.fromkeys((trial.dataset, trial.repeat, trial.fold) for trial in trials)
    rounds = Counter(fold[0] for fold in folds if fold not in missing)
    places = {fold: number for number, fold in enumerate(folds)}
    numbers = {}
    for fold in sorted(missing, key=lambda fold: (missing[fold], places[fold])):
        numbers[fold] = rounds[fold[0]]
        rounds[fold[0]] += 1
    seconds = seconds or {}
    return sorted(
        pending, key=lambda trial: (numbers[trial.dataset, trial.repeat, trial.fold], seconds.get(trial.key, 0.0))
    )


def parse_duration(text: str) -> float:
    """Return the seconds of a duration."""
    match = _DURATION.fullmatch(text.strip())
    parts = match.groups() if match else ()
    seconds = sum(float(number or 0) * size for number, size in zip(parts, _UNITS.values(), strict=False))
    if seconds == 0.0 and any(parts):
        raise UsageError(f"{text!r} leaves no time: write a longer duration, such as 10m or 1h30m")
    if not 0.0 < seconds < math.inf:
        raise UsageError(f"{text!r} is not a duration: write a number with s, m or h, such as 10m or 1h30m")
    return seconds


def duration_text(seconds: float) -> str:
    """Return a duration in the form that `parse_duration` reads."""
    text, rest = "", round(seconds, 3)
    for unit, size in list(_UNITS.items())[:-1]:
        number, rest = divmod(rest, size)
        text += f"{number:.0f}{unit}" if number else ""
    return f"{text}{round(rest, 3):g}s" if rest or not text else text


def seconds_of(budget: str | float) -> float:
    """Return the seconds of a budget."""
    if isinstance(budget, str):
        return parse_duration(budget)
    if not 0.0 < budget < math.inf:
        raise UsageError(f"a budget of {budget:g} s leaves no time; give a positive number of seconds, or '2h'")
    return float(budget)
