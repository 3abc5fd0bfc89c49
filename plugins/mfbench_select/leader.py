"""Which pipeline leads while a run goes on."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.runner import Observer
from mfbench.suite.plan import Plan
from mfbench_select.suite import RANDOM, Pipeline

SECONDS = 10.0  # between two lines
_FOLDS = 3  # fewer say too little


class Leader:
    """Passes the events of a run on, and says from time to time which pipeline leads.

    Parameters
    ----------
    display : Observer
        Receives all events.
    metric : str
    say : callable
        Shows a line.
    """

    def __init__(self, display: Observer, metric: str, say: Callable[[str], None]) -> None:
        self._display, self._metric, self._say = display, metric, say
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._last = time.monotonic()

    def remarked(self, remark: str) -> None:
        """Pass a remark on."""
        self._display.remarked(remark)

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Pass the start on."""
        self._display.started(plan, done, pending)

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Pass the running trials on."""
        self._display.running(trials)

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Pass a trial on, count its score, and say which pipeline leads if the last line is old."""
        self._display.finished(trial, result)
        score = result.scores.get(self._metric)
        if score is not None:
            self._scores[trial.method].append(float(score))
        if time.monotonic() - self._last >= SECONDS and (line := self.line()):
            self._last = time.monotonic()
            self._say(line)

    def line(self) -> str:
        """Return which pipeline leads, of those with the most folds; empty if these are few."""
        most = max((len(scores) for label, scores in self._scores.items()), default=0)
        means = {
            label: fmean(scores)
            for label, scores in self._scores.items()
            if len(scores) == most and not label.startswith(RANDOM)
        }
        if most < _FOLDS or not means:
            return ""
        best = max(means, key=lambda label: means[label])
        value = f"R² {means[best]:.2f}" if self._metric == "r2" else f"{100 * means[best]:.1f} %"
        return f"So far {Pipeline.of(best, 0).name} leads, with {value} on {most} folds."
