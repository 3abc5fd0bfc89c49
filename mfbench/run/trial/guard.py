"""The frame of a trial: records time, memory and warnings, and turns any exception into the trial's result."""

from __future__ import annotations

import contextlib
import ctypes
import re
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from time import perf_counter, process_time  # bound here, before a method can replace them
from typing import Any

import numpy as np

from mfbench.host.registry import GROUP, HOST
from mfbench.model.specs import Features
from mfbench.model.trials import Status, Trial, TrialResult

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Stopwatch:
    """Context manager that measures wall and CPU seconds of this process."""

    wall: float = 0.0  # wall, cpu: seconds; set when the block ends
    cpu: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._wall = perf_counter()
        self._cpu = process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = perf_counter() - self._wall
        self.cpu = process_time() - self._cpu


class PeakMemory:
    """The rise of resident memory above its level at the start of a block."""

    # On Linux the kernel's high-water mark is reset at the start, so that an earlier, larger block hides nothing.
    # Elsewhere nothing equally cheap exists, and the rise is reported as 0.

    bytes: int = 0  # the rise; set when the block ends

    def __enter__(self) -> PeakMemory:
        self._start = 0
        give_back()
        try:
            _CLEAR.write_text("5")
            self._start = _kilobytes("VmRSS")
        except OSError:  # no such interface, or access denied: 0 means "not measured"
            pass
        return self

    def __exit__(self, *_: object) -> None:
        if self._start:
            self.bytes = max(0, _kilobytes("VmHWM") - self._start) * 1024


def give_back() -> None:
    """Return freed memory to the system: reusing memory of an earlier block would not show as a rise."""
    with contextlib.suppress(OSError, AttributeError):  # GNU C library only; nothing is measured elsewhere
        ctypes.CDLL(None).malloc_trim(0)


def _kilobytes(field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(match.group(1)) if match else 0


MESSAGE_LENGTH = 500
TRACE_LENGTH = 4000


class DescribedError(Exception):
    """An exception in part of a trial, already described."""

    def __init__(self, failure: tuple[str, str, str]) -> None:
        super().__init__(failure[1])
        self.failure = failure


class SelectorError(DescribedError):
    """A selector's fit failed, here or in the trial that shared it."""


class SizeError(DescribedError):
    """A method with a curve failed at one size, which the message names."""


@contextmanager
def at_size(size: int, n_features: int) -> Iterator[None]:
    """Add the curve's size to exceptions in the block, except failures of the selector, which all sizes share."""
    try:
        yield
    except DescribedError:
        raise
    except BaseException as error:
        kind, message, trace = describe_failure(error)
        raise SizeError((kind, f"with {size} of {n_features} features: {message}", trace)) from error


def describe_failure(error: BaseException) -> tuple[str, str, str]:
    """Return type, message (truncated) and the tail of the traceback."""
    trace = "".join(traceback.format_exception(error))
    return _visible(type(error).__name__), _visible(str(error)[:MESSAGE_LENGTH]), _visible(trace[-TRACE_LENGTH:])


def _visible(text: str) -> str:
    """Remove control characters, which terminals and pages would interpret."""
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
        except BaseException as error:  # noqa: BLE001 - even sys.exit() in a method fails only that trial
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


# scikit-learn tests its estimators with read-only arrays, and so does mfbench (the checks `read-only` and
# `inputs-unchanged`). Other classes may write to their input, and a trial run cannot prove they do not: compiled
# Fortran code writes to a read-only array without any error, and the next method would be measured on different rows.
_LIBRARIES = ("sklearn", "xgboost")


def shared(array: Features) -> Features:
    """Return an array in C order that estimators can share: its base array and all views are read-only."""
    if not isinstance(array, np.ndarray):
        return array
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    # A view of a read-only array cannot be made writeable; the base array could be, by an estimator.
    return array.view()


def rows_for(estimator: Any, rows: Features) -> Features:
    """Return the rows to pass to an estimator: zero-copy if it is known not to write to them, otherwise a copy."""
    # Copying a large dataset costs more than all other overhead of a trial. A copy is made for classes outside
    # scikit-learn, XGBoost and the built-in plugins, and for estimators that contain one. Sparse rows, which cannot be
    # read-only as a whole, are always copied.
    shares = isinstance(rows, np.ndarray) and (rows.flags.writeable or _reads_only(estimator))
    return rows if shares else rows.copy()


@cache
def _readers() -> frozenset[str]:
    """Return the import names of the packages whose estimators are known to be read-only."""
    points = metadata.entry_points(group=GROUP)
    own = (point.module.partition(".")[0] for point in points if point.dist is not None and point.dist.name == HOST)
    return frozenset((*_LIBRARIES, *own))


def _reads_only(part: Any) -> bool:
    """Return whether an estimator (or parameter value) and all of its parts are known to be read-only."""
    if part is None or isinstance(part, (bool, int, float, str, bytes, np.generic, np.ndarray)):
        return True
    if isinstance(part, (list, tuple, set, frozenset)):
        return all(map(_reads_only, part))
    if isinstance(part, dict):
        return all(map(_reads_only, part.values()))
    if isinstance(part, np.random.RandomState | np.random.Generator):
        return True
    kind = part if isinstance(part, type) else type(part)
    if kind.__module__.partition(".")[0] not in _readers() or not hasattr(part, "get_params"):
        return False  # e.g. a function that a FunctionTransformer calls on the rows
    return all(map(_reads_only, part.get_params(deep=False).values()))
