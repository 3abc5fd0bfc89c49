"""Leakage from the rows of a fold: what a fit makes of rows that it must not see, and which rows it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, REPEATABLE, RESULTS, boundary_rows
from mfbench_check.subjects import Opened
from mfbench_check.trials import FitInput, make_fold, run_subject, succeeded
from mfbench_check.verdicts import CheckFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_TRAIN = 40
_TOP = 2  # features that a selector leaves to its classifier
_POISONS = {"1e100": 1e100, "NaN": np.nan}


@check("poison", group="leakage", kinds=ESTIMATORS, needs=REPEATABLE)
def ignores_the_test_rows(subject: Opened) -> None:
    """Other values in the test rows change neither the weights of a selector nor what a classifier has learned.

    All test rows are replaced, once by 1e100 and once by missing values, and the method runs as in a benchmark. A
    method that reaches the test rows, through the frames of its callers or objects in memory, is scored on rows that
    it has seen. So is one whose host scales or imputes with all rows: this checks the host as well.
    """
    X, y = subject.sample()
    clean = boundary_rows(X, subject.rng())
    before = _learned(subject, X, y, clean)
    for name, value in _POISONS.items():
        poisoned = X.copy()
        poisoned[N_TRAIN:] = value
        after = _learned(subject, poisoned, y, clean)
        if before != after:
            what = "weights" if subject.kind == "selector" else "predictions for other rows"
            code = "run_on(make_fold(table, y, 40, missing=True), method"
            result = "result.weights" if subject.kind == "selector" else "clean[0]"
            options = ")" if subject.kind == "selector" else ", 'classifier', clean=X)"
            raise CheckFailedError(
                f"the same {what} whatever is in the test rows",
                f"they differ after all test rows became {name}",
                subject.snippet(
                    "from mfbench_check.trials import make_fold, run_on",
                    "poisoned = X.copy()",
                    f"poisoned[40:] = {'np.nan' if name == 'NaN' else name}",
                    f"first, second = ({code}{options}.{result} for table in (X, poisoned))",
                    "assert np.array_equal(first, second), (first, second)",
                ),
            )


def _learned(subject: Opened, X: NDArray[np.float64], y: NDArray[np.int64], clean: NDArray[np.float64]) -> list[bytes]:
    """Return what a method learns on the training rows: weights and selection, or predictions for clean rows."""
    seen = run_subject(subject, make_fold(X, y, N_TRAIN, missing=True), top=_TOP, clean=clean)
    if subject.kind == "classifier":
        if not seen.clean:  # a classifier that has predicted clean rows may well refuse poisoned ones
            succeeded(seen)
        return [labels.tobytes() for labels in seen.clean]
    result = succeeded(seen).result
    assert result.weights is not None
    assert result.selected is not None
    return [result.weights.tobytes(), result.selected.tobytes()]


@check("rows-in-fit", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def is_fitted_on_training_rows(subject: Opened) -> None:
    """Through the host, each fit receives the training rows, each once, and never a view of a larger table.

    The method runs twice on one fold, as two methods of a suite do. One that reaches into the fold and changes it gives
    test rows to the fits after it.
    """
    X, y = subject.sample()
    fold = make_fold(X, y, N_TRAIN, "none")
    for name in ("first", "second"):
        seen = succeeded(run_subject(subject, fold, name=name))
        for fit in seen.inputs:
            if problem := _wrong_rows(fit, X[:N_TRAIN], y[:N_TRAIN]):
                raise CheckFailedError(
                    f"the {N_TRAIN} training rows, each once, in every fit of two trials on one fold",
                    f"the fit of the {fit.step} in the {name} trial received {problem}",
                    _rows_snippet(subject),
                )


def _wrong_rows(fit: FitInput, X: NDArray[np.float64], y: NDArray[np.int64]) -> str:
    if len(fit.X) != len(X):
        return f"{len(fit.X)} rows"
    if not np.array_equal(fit.X, X) or not np.array_equal(fit.y, y):
        return "other rows"
    if any(base.size > max(X.size, y.size) for base in fit.bases):  # NumPy itself makes transposed views, as large
        return "a view of an array with more rows"
    return ""


def _rows_snippet(subject: Opened) -> str:
    return subject.snippet(
        "from mfbench_check.trials import make_fold, run_on",
        "fold = make_fold(X, y, 40, 'none')",
        f"fits = [fit for name in 'ab' for fit in run_on(fold, method, {subject.kind!r}, name=name).inputs]",
        "assert all(np.array_equal(fit.X, X[:40]) and np.array_equal(fit.y, y[:40]) for fit in fits)",
    )
