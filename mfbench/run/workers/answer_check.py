"""What the process that receives results checks: a method may have changed the code that wrote them.

It has its own copy of the class codes, computes scores again, and compares the time of a trial with its own clock.
"""

from __future__ import annotations

import math

from mfbench.errors import describe_error
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.workers.handed_data import HandedData
from mfbench.run.workers.job import Job, read_classes
from mfbench.run.workers.recomputed_scores import Truth, wrong_score
from mfbench.suite.forms import KINDS

_SHARE, _SECONDS = 0.05, 0.01  # two clocks agree up to this


class AnswerCheck:
    """Checks the results of a job's trials."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._data = HandedData(job)
        self._truths: dict[tuple[str, int], list[Truth]] = {}

    def __call__(self, trial: Trial, result: TrialResult) -> str:
        """Return a sentence on what is wrong with a result; empty if nothing is."""
        if result.status is not Status.OK:
            return ""
        if damage := self._data.damage(trial.dataset):
            return damage
        predicts = KINDS[self._job.protocol.kind].predicts
        try:
            wrong = wrong_score(result, self._truth(trial), predicts=predicts)
        except Exception as error:  # noqa: BLE001 - a method may have put anything into its result
            return f"its scores cannot be computed again: {describe_error(error)}"
        return f"{wrong}: its method changes how it is scored" if wrong else ""

    def _truth(self, trial: Trial) -> Truth:
        if trial.dataset in self._job.references:
            return Truth(relevant=self._job.relevant[trial.dataset], pairs=self._job.true_pairs[trial.dataset])
        place, protocol = (trial.dataset, trial.repeat), self._job.protocol
        if place not in self._truths:
            y = read_classes(self._job, trial.dataset)
            by_class = protocol.decisions == "one-vs-rest"
            splits = protocol.splits(trial.dataset, y, trial.repeat)
            self._truths[place] = [Truth.of_rows(y, split.train, split.test, by_class=by_class) for split in splits]
        return self._truths[place][trial.fold]


def check_clock(result: TrialResult, least: float, most: float) -> None:
    """Correct and mark the time of a trial that lies outside the bounds that this process has measured."""
    own = result.duration if math.isfinite(result.duration) else 0.0
    seconds = min(max(own, min(least, most)), most)
    if result.status is not Status.OK or abs(seconds - own) <= _SHARE * seconds + _SECONDS:
        return
    result.duration, result.fit_wall = seconds, max(0.0, result.fit_wall + seconds - own)
    clock = f"its own clock ({own:.3g} s, where {seconds:.3g} s went by: these are stored)"
    result.touched = ", ".join(filter(None, (result.touched, clock)))
