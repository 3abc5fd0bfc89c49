"""The order of a run's trials: long ones first, so that none of them delays the end of the run.

Short trials keep the plan's order, in which neighbours share data. Within a budget, cheap trials come first. Results do
not depend on the order.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mfbench.errors import UsageError
from mfbench.model.trials import Trial
from mfbench.run.trial.steps import selector_key
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.plan import Costs

SHARE = 0.02  # longer than this share of the ideal wall time, with all workers busy, is "long"


def longest_first(
    trials: Sequence[Trial], costs: Costs, jobs: int, methods: Mapping[str, ResolvedMethod]
) -> list[Trial]:
    """Return trials in execution order."""
    # Trials that share a selector fit stay together: the others wait for the first, so the group is as long as the
    # first plus the longest other. Groups longer than a small share of the whole run come first, in order of decreasing
    # length.
    seconds = [costs.of(trial).seconds for trial in trials]
    least = SHARE * sum(seconds) / max(1, jobs)
    if not seconds or sum(sorted(seconds)[-2:]) <= least:
        return list(trials)  # the usual case: no group can be long
    long = []
    for positions in _groups(trials, methods):
        length = seconds[positions[0]] + max((seconds[position] for position in positions[1:]), default=0.0)
        if length > least:
            long.append((-length, positions))
    long.sort()
    first = [position for _, positions in long for position in positions]
    moved = set(first)
    return [trials[position] for position in [*first, *(p for p in range(len(trials)) if p not in moved)]]


def seconds_each(trials: Iterable[Trial], costs: Costs, methods: Mapping[str, ResolvedMethod]) -> dict[str, float]:
    """Return the predicted seconds of each trial by key; trials with a common selector fit share its cost."""
    trials = list(trials)
    seconds: dict[str, float] = {}
    for positions in _groups(trials, methods):
        group = [trials[position] for position in positions]
        mean = math.fsum(costs.of(trial).seconds for trial in group) / len(group)
        seconds |= {trial.key: mean for trial in group}
    return seconds


def _groups(trials: Sequence[Trial], methods: Mapping[str, ResolvedMethod]) -> list[list[int]]:
    """Return the positions of trials that share a selector fit; a trial without a selector is its own group."""
    keys = {label: selector_key(method) for label, method in methods.items()}
    groups: dict[tuple[object, ...], list[int]] = {}
    for position, trial in enumerate(trials):
        key = keys[trial.method]
        coordinates = (trial.dataset, trial.repeat, trial.fold, key) if key else (position,)
        groups.setdefault(coordinates, []).append(position)
    return list(groups.values())


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = r"(?:(\d+(?:\.\d*)?)\s*{}\s*)?"
_DURATION = re.compile("".join(_PART.format(unit) for unit in _UNITS))


@dataclass
class Budget:
    """A wall-time budget for a run, starting when this object is created."""

    seconds: float
    cells: int = 1  # the dataset and method pairs of the run
    predict: Callable[[Trial], float] = lambda trial: 0.0  # the seconds of a trial
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.deadline = self.now() + self.seconds

    @property
    def remaining(self) -> float:
        """Remaining seconds, at least 0."""
        return max(0.0, self.deadline - self.now())

    @property
    def is_over(self) -> bool:
        """Whether the budget is used up, so that no trial may start or continue."""
        return self.now() >= self.deadline

    def admits(self, trial: Trial) -> bool:
        """Return whether a trial may start now, i.e. is predicted to end within the remaining time."""
        return not self.is_over and self.predict(trial) <= self.remaining


def in_rounds(
    trials: Sequence[Trial], done: Collection[str], seconds: Mapping[str, float] | None = None
) -> list[Trial]:
    """Return the pending trials in an order in which all cells advance evenly."""
    # A round runs one fold of every dataset with all its methods. All methods of a dataset take its folds in the same
    # order, so after each round they have the same folds. A dataset that lags behind, because an earlier run ended in
    # between, catches up first. Its folds with the fewest missing methods come first.
    pending = [trial for trial in trials if trial.key not in done]
    missing = Counter((trial.dataset, trial.repeat, trial.fold) for trial in pending)
    # A complete fold counts as a round that the dataset has already finished.
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
    """Parse a duration to seconds."""
    match = _DURATION.fullmatch(text.strip())
    parts = match.groups() if match else ()
    seconds = sum(float(number or 0) * size for number, size in zip(parts, _UNITS.values(), strict=False))
    if seconds == 0.0 and any(parts):
        raise UsageError(f"{text!r} leaves no time: write a longer duration, such as 10m or 1h30m")
    if not 0.0 < seconds < math.inf:
        raise UsageError(f"{text!r} is not a duration: write a number with s, m or h, such as 10m or 1h30m")
    return seconds


def duration_text(seconds: float) -> str:
    """Format a duration in the syntax of `parse_duration`."""
    text, rest = "", round(seconds, 3)
    for unit, size in list(_UNITS.items())[:-1]:
        number, rest = divmod(rest, size)
        text += f"{number:.0f}{unit}" if number else ""
    return f"{text}{round(rest, 3):g}s" if rest or not text else text


def seconds_of(budget: str | float) -> float:
    """Return a budget in seconds."""
    if isinstance(budget, str):
        return parse_duration(budget)
    if not 0.0 < budget < math.inf:
        raise UsageError(f"a budget of {budget:g} s leaves no time; give a positive number of seconds, or '2h'")
    return float(budget)
