"""Batches: the trials of a run cut into calls, tiny trials together, long ones alone.

Trials that share a selector fit stay in one batch, where the fit is made once. The order of the trials is kept.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mfbench.model.trials import Trial
from mfbench.run.trial.steps import selector_key
from mfbench.run.workers.job import Job
from mfbench.run.workers.owners import Owners

SECONDS = 0.25  # of predicted work in a batch
MOST = 200  # trials in a batch

# The predicted seconds of a trial; NaN if nothing is known about it.
Cost = Callable[[Trial], float]


def unknown(trial: Trial) -> float:
    """Predict nothing."""
    return math.nan


@dataclass(eq=False)
class Batch:
    """Trials that are sent together."""

    trials: list[Trial]
    losses: int = 0  # how often a worker was lost that may have been running them


class Batches:
    """The trials that have not been sent yet."""

    def __init__(self, trials: Iterable[Trial], job: Job, cost: Cost = unknown) -> None:
        self._cost = cost
        self._observed: dict[tuple[str, str], tuple[float, int]] = {}
        self._again: deque[Batch] = deque()
        # By the plugins that a worker must load: groups of trials that share a fit.
        self._waiting: dict[Owners, deque[tuple[int, list[Trial]]]] = {}
        groups: dict[tuple[object, ...], list[Trial]] = {}
        keys = {label: selector_key(method) for label, method in job.methods.items()}
        for position, trial in enumerate(trials):
            owners, key = job.owners_of(trial), keys[trial.method]
            coordinates = (owners, trial.dataset, trial.repeat, trial.fold, key) if key else (position,)
            group = groups.setdefault(coordinates, [])
            if not group:
                self._waiting.setdefault(owners, deque()).append((position, group))
            group.append(trial)

    def __bool__(self) -> bool:
        return bool(self._again) or any(self._waiting.values())

    def next(self) -> Batch | None:
        """Return the next batch; None if all trials have been sent."""
        if self._again:
            return self._again.popleft()
        queues = [queue for queue in self._waiting.values() if queue]
        if not queues:
            return None
        queue = min(queues, key=lambda one: one[0][0])
        trials = list(queue.popleft()[1])
        seconds = self._seconds(trials)
        while queue and len(trials) + len(queue[0][1]) <= MOST:
            seconds += self._seconds(queue[0][1])
            if not seconds <= SECONDS:
                break
            trials += queue.popleft()[1]
        return Batch(trials)

    def repeat(self, batch: Batch) -> None:
        """Send a batch again, before the others; one that was lost twice is split into single trials."""
        if batch.losses >= 2:
            self._again.extend(Batch([trial], batch.losses) for trial in batch.trials)
        else:
            self._again.append(batch)

    def observe(self, trial: Trial, seconds: float) -> None:
        """Learn how long a trial took; NaN if that is not known."""
        if not math.isnan(seconds):
            total, count = self._observed.get((trial.dataset, trial.method), (0.0, 0))
            self._observed[trial.dataset, trial.method] = (total + seconds, count + 1)

    def _seconds(self, trials: list[Trial]) -> float:
        return sum(map(self._predicted, trials))

    def _predicted(self, trial: Trial) -> float:
        seconds = self._cost(trial)
        if math.isnan(seconds):
            total, count = self._observed.get((trial.dataset, trial.method), (0.0, 0))
            seconds = total / count if count else SECONDS
        return seconds
