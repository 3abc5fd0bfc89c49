"""What trials cost in time and memory, and what a run of them is expected to take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from mfbench.model.trials import Trial


@dataclass(frozen=True, slots=True)
class Cost:
    """What a trial costs."""

    unlimited: float  # wall seconds on one worker without a time limit
    memory: int  # bytes by which the memory of its worker rises
    limit: float = math.inf  # seconds after which it is stopped

    @property
    def seconds(self) -> float:
        """Wall seconds on one worker, at most the limit."""
        return min(self.unlimited, self.limit)

    @property
    def is_too_long(self) -> bool:
        """Whether it is expected to be stopped."""
        return self.unlimited >= self.limit


class Costs(Protocol):
    """The costs of the trials of a plan, declared or learned from earlier trials."""

    def of(self, trial: Trial) -> Cost:
        """Return what a trial of the plan costs."""


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to cost, for displays that follow it."""

    costs: Costs
    jobs: int  # trials that run at the same time
    startup: float = 0.0  # seconds before the first trial

    def wall(self, trials: Iterable[Trial]) -> float:
        """Return the seconds that trials take together: at least as long as the longest of them."""
        seconds = [self.costs.of(trial).seconds for trial in trials]
        if not seconds:
            return 0.0
        return self.startup + max(math.fsum(seconds) / self.jobs, max(seconds))

    def too_long(self, trials: Iterable[Trial]) -> list[tuple[str, str, int]]:
        """Return datasets and methods with trials that are expected to exceed their time limit, and how many."""
        counts = Counter((trial.dataset, trial.method) for trial in trials if self.costs.of(trial).is_too_long)
        return [(*cell, number) for cell, number in counts.items()]
