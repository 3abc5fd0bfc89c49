"""The frame of a trial: it records time, memory and warnings, and turns any exception into the trial's result."""

from __future__ import annotations

import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.trial.measure import PeakMemory, Stopwatch

MESSAGE_LENGTH = 500
TRACE_LENGTH = 4000


class DescribedError(Exception):
    """A part of a trial raised, and what it raised is described already."""

    def __init__(self, failure: tuple[str, str, str]) -> None:
        super().__init__(failure[1])
        self.failure = failure


class SelectorError(DescribedError):
    """A selector's fit raised, here or in the trial that shares the fit with this one."""


class SizeError(DescribedError):
    """A method with a curve failed at one of its sizes, which the message names."""


@contextmanager
def at_size(size: int, n_features: int) -> Iterator[None]:
    """Let what is raised in the block say at which size of a curve; the selector's fit is that of all sizes."""
    try:
        yield
    except DescribedError:
        raise
    except BaseException as error:
        kind, message, trace = describe_failure(error)
        raise SizeError((kind, f"with {size} of {n_features} features: {message}", trace)) from error


def describe_failure(error: BaseException) -> tuple[str, str, str]:
    """Return type, message (cut to a readable length) and the tail of the traceback."""
    trace = "".join(traceback.format_exception(error))
    return _visible(type(error).__name__), _visible(str(error)[:MESSAGE_LENGTH]), _visible(trace[-TRACE_LENGTH:])


def _visible(text: str) -> str:
    """Return a text without control characters, which terminals and pages that show it would obey."""
    return "".join(sign for sign in text if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cf"))


def guarded(trial: Trial, work: Callable[[TrialResult], None]) -> TrialResult:
    """Let `work` fill a trial's result; record time, memory, warnings and any exception."""
    result = TrialResult(key=trial.key)
    with Stopwatch() as watch, PeakMemory() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            work(result)
        except MemoryError as error:
            _fail(result, Status.MEMORY, "MemoryError", str(error) or "the trial's memory limit was reached", "")
        except DescribedError as error:
            status = Status.MEMORY if error.failure[0] == "MemoryError" else Status.ERROR
            _fail(result, status, *error.failure)
        except BaseException as error:  # noqa: BLE001 - even sys.exit() in a method is a failure of that trial alone
            _fail(result, Status.ERROR, *describe_failure(error))
    result.duration, result.peak_memory = watch.wall, peak.bytes
    result.n_warnings = len(caught)
    if caught:
        result.warning = f"{caught[0].category.__name__}: {_visible(str(caught[0].message))}"[:MESSAGE_LENGTH]
    return result


def _fail(result: TrialResult, status: Status, kind: str, message: str, trace: str) -> None:
    result.status, result.error_type, result.error_message, result.error_trace = status, kind, message, trace
    result.scores, result.predictions, result.selected, result.weights = {}, None, None, None
    result.candidates, result.interactions, result.decisions, result.curve = [], None, None, None
