"""A trial: one method on one fold. Whatever it raises becomes its result."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from mfbench.run.trial.folds import Fold
from mfbench.run.trial.measure import PeakMemory, Stopwatch
from mfbench.run.trial.one_vs_rest import solve_one_vs_rest
from mfbench.run.trial.problem import Problem
from mfbench.run.trial.steps import MESSAGE_LENGTH, Maker, SelectorError, describe_failure
from mfbench.suite.resolve import ResolvedMethod
from mfbench.trials import Status, Trial, TrialResult


def run_trial(
    trial: Trial,
    method: ResolvedMethod,
    fold: Fold,
    metrics: list[str],
    make: Maker,
    *,
    decisions: str = "multi-class",
) -> TrialResult:
    """Run one trial in this process.

    Parameters
    ----------
    trial : Trial
        Coordinates and seed.
    method : ResolvedMethod
        What to run.
    fold : Fold
        Data; selector fits found there are used, new ones are left there.
    metrics : list of str
        Scores to compute; the first one tunes.
    make : callable
        Builds estimators: ``make(expression, kind, **overrides)``.
    decisions : {"multi-class", "one-vs-rest"}, default="multi-class"
        Whether more than two classes are one problem, or each class against the rest.

    Returns
    -------
    TrialResult
        Status "ok", "error" or "memory"; never raises for a failure of the method.
    """

    def work(result: TrialResult) -> None:
        if decisions == "one-vs-rest" and fold.n_classes > 2:
            solve_one_vs_rest(method, trial.seed, fold, metrics, make, result)
        else:
            Problem(method, trial.seed, fold, metrics, make).into(result)

    return guarded(trial, work)


def guarded(trial: Trial, work: Callable[[TrialResult], None]) -> TrialResult:
    """Let `work` fill a trial's result; time, memory, warnings and whatever it raises are recorded."""
    result = TrialResult(key=trial.key)
    with Stopwatch() as watch, PeakMemory() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            work(result)
        except MemoryError as error:
            _fail(result, Status.MEMORY, "MemoryError", str(error) or "the trial's memory limit was reached", "")
        except SelectorError as error:
            status = Status.MEMORY if error.failure[0] == "MemoryError" else Status.ERROR
            _fail(result, status, *error.failure)
        except BaseException as error:  # noqa: BLE001 - even sys.exit() in a method is its own failure, told in its row
            _fail(result, Status.ERROR, *describe_failure(error))
    result.duration, result.peak_memory = watch.wall, peak.bytes
    result.n_warnings = len(caught)
    if caught:
        result.warning = f"{caught[0].category.__name__}: {caught[0].message}"[:MESSAGE_LENGTH]
    return result


def _fail(result: TrialResult, status: Status, kind: str, message: str, trace: str) -> None:
    result.status, result.error_type, result.error_message, result.error_trace = status, kind, message, trace
    result.scores, result.predictions, result.selected, result.weights = {}, None, None, None
    result.candidates, result.interactions, result.decisions = [], None, None
