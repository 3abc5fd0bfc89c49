"""Growth: how time and memory grow with rows and with features, beside what the spec declares."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np

from mfbench.suite.complexity import parse_complexity
from mfbench_check.catalog import check
from mfbench_check.samples import Table, shifted
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError, NotApplicableError

ROWS, FEATURES = 100, 10  # of the smallest table
CLASSES = 2
SECONDS = 1.0  # of all fits along one axis: a step is not made if it would probably take longer
DOUBLINGS = 10
_SHORTEST = 0.005  # a fit that takes less is mostly the same work whatever the size
Size = tuple[int, int]


@check("growth", group="growth", kinds=("selector", "classifier"), needs=("fit", "importances-finite"))
def grows_as_declared(subject: Opened) -> str:
    """Reports how time and memory grow with rows and features; the check never fails.

    The exponent of rows is 2 if a table of twice as many rows takes four times as long. It is measured by doubling the
    table as often as a second allows, on the last two doublings. Small tables flatter a method, since the work that
    does not depend on the size takes most of the time; `mfbench suite timing` measures large ones.
    """
    parts = [
        _along(subject, "rows", lambda step: (ROWS << step, FEATURES)),
        _along(subject, "features", lambda step: (ROWS, FEATURES << step)),
    ]
    if not any(parts):
        raise NotApplicableError("a fit is too quick, or too slow, to see how it grows")
    formula = subject.spec.complexity
    return "; ".join(part for part in parts if part) + (f"; declared {formula}" if formula else "; none declared")


def _along(subject: Opened, axis: str, size: Callable[[int], Size]) -> str:
    """Return what is measured along one axis; "" if nothing can be seen."""
    seconds, memory = [], []
    deadline = time.perf_counter() + SECONDS
    try:
        subject.fit(*_table(subject, size(0)))  # what happens once, such as compiling, is not growth
        for step in range(DOUBLINGS):
            one, peak = _measured(subject, size(step))
            seconds.append(one)
            memory.append(peak)
            if time.perf_counter() + 10 * one > deadline:  # two fits, one of them traced, and each perhaps fourfold
                break
    except CheckFailedError:  # a check of the edges reports a table that the method refuses
        pass
    first = next((step for step, one in enumerate(seconds) if one > _SHORTEST), len(seconds))
    if len(seconds) - first < 2:
        return ""
    first = max(first, len(seconds) - 3)
    sizes = [size(step) for step in range(len(seconds))]
    declared = _declared(subject, sizes[first], sizes[-1], len(seconds) - 1 - first)
    against = f" (declared {declared:.1f})" if declared is not None else ""
    of_time, of_memory = exponent(seconds[first:]), exponent(memory[first:])
    return f"time grows as {axis}^{of_time:.1f}{against}, memory as {axis}^{of_memory:.1f}"


def exponent(values: Sequence[float]) -> float:
    """Return the exponent of the growth of values, each measured on a size twice that before it.

    Examples
    --------
    >>> exponent([1.0, 4.0, 16.0])
    2.0
    """
    return math.log2(values[-1] / values[0]) / (len(values) - 1)


def _measured(subject: Opened, size: Size) -> tuple[float, float]:
    """Return the seconds of a fit and, from another one, the bytes that it allocated at most at the same time."""
    X, y = _table(subject, size)
    begin = time.perf_counter()
    subject.fit(X, y)
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    try:
        subject.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return seconds, float(max(peak, 1))


def _table(subject: Opened, size: Size) -> Table:
    return shifted(np.random.default_rng(subject.seed), *size, CLASSES)


def _declared(subject: Opened, first: Size, last: Size, doublings: int) -> float | None:
    if not subject.spec.complexity:
        return None
    try:
        formula = parse_complexity(subject.spec.complexity)
        ratio = formula.growth(*last, CLASSES) / formula.growth(*first, CLASSES)
        return math.log2(ratio) / doublings
    except (ValueError, ArithmeticError):  # the check 'spec' reports the formula
        return None
