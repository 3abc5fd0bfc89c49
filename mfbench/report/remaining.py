"""The time that a run will still take: the predicted one, corrected by the trials that have ended."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.suite.forecast import Forecast

PRIOR = 0.05  # of the whole predicted time: until that much has ended, the prediction counts more than the trials
LEAST_PRIOR = 2.0  # seconds of all workers


class Remaining:
    """The time left of a run, updated with each trial that ends."""

    def __init__(self, forecast: Forecast, pending: Sequence[Trial], limit: float = math.inf) -> None:
        self.forecast = forecast
        self.limit = limit
        self._running: dict[str, tuple[float, float]] = {}  # predicted seconds and those so far
        self.total = forecast.wall(pending)
        self._number = len(pending)
        self._work = math.fsum(forecast.costs.of(trial).seconds for trial in pending)
        # As if trials had ended that took exactly as long as predicted: the first trials alone would mislead.
        self._predicted = self._actual = max(PRIOR * self._work, LEAST_PRIOR)

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Take the trials that run now, and their seconds so far, into account."""
        self._running = {trial.key: (self.forecast.costs.of(trial).seconds, seconds) for trial, seconds in trials}

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Count a trial that has ended."""
        self._running.pop(trial.key, None)
        predicted = self.forecast.costs.of(trial).seconds
        self._number -= 1
        self._work -= predicted
        if result.status not in (Status.OK, Status.TIMEOUT) or not math.isfinite(result.duration):
            return  # a failure takes as long as it takes to fail, and a crash has no time of its own
        self._predicted += predicted
        self._actual += result.duration

    @property
    def correction(self) -> float:
        """How much longer trials take than predicted: those that have ended, and those that are late already."""
        ended = self._actual / self._predicted
        late = [(predicted, seconds) for predicted, seconds in self._running.values() if seconds > ended * predicted]
        predicted, actual = (math.fsum(part) for part in zip((0.0, 0.0), *late, strict=True))
        return (self._actual + actual) / (self._predicted + predicted)

    @property
    def seconds(self) -> float:
        """The seconds left, without those of the start."""
        if self._number <= 0:
            return 0.0
        correction = self.correction
        waiting = max(0.0, self._work - math.fsum(predicted for predicted, _ in self._running.values()))
        rests = [self._rest(correction * predicted, seconds) for predicted, seconds in self._running.values()]
        shared = (waiting * correction + math.fsum(rests)) / min(self.forecast.jobs, self._number)
        return max(shared, *rests, 0.0)

    def _rest(self, expected: float, seconds: float) -> float:
        # A trial that is late is expected to take as long again: nothing else is known about it.
        return expected - seconds if seconds <= expected else max(0.0, min(seconds, self.limit - seconds))


def in_words(seconds: float) -> str:
    """Return a duration in the largest units that matter, for estimates."""
    if seconds <= 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 10:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{hours} h" if hours < 72 else f"{round(hours / 24)} days"
