"""Determinism of the data: a fit leaves its input unchanged."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import describe_error
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError
from mfbench_check.repeating import (
    ESTIMATORS,
    OF_CLASSES,
    REPEATABLE,
    RESULTS,
    bits,
    boundary_rows,
    difference,
    result_of,
)
from mfbench_check.subjects import FitInput, Opened, make_fold, run_subject, succeeded

if TYPE_CHECKING:
    from numpy.typing import NDArray


@check("inputs-unchanged", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def leaves_its_input(subject: Opened) -> None:
    """`fit` and `predict` change neither X nor y.

    Users continue to work with the arrays. The host copies its arrays for third-party methods; other code does not.
    """
    X, y = subject.sample()
    rows = boundary_rows(X, subject.rng())
    arrays = {"X": X.copy(), "y": y.copy(), "X of predict": rows.copy()}
    result_of(subject, subject.make(), arrays["X"], arrays["y"], arrays["X of predict"])
    for (name, array), before in zip(arrays.items(), (X, y, rows), strict=True):
        if bits(array) == bits(before) and array.flags.writeable:
            continue
        n_changed = int((array != before).sum()) if array.shape == before.shape else array.size
        raise CheckFailedError(
            "X and y as they were after fit and predict",
            f"{n_changed} values of {name} changed" if n_changed else f"{name} has other properties",
            subject.snippet(
                "before = X.copy(), y.copy()",
                "method.fit(X, y)" if subject.kind == "selector" else "method.fit(X, y).predict(X)",
                "assert np.array_equal(X, before[0]) and np.array_equal(y, before[1])",
            ),
        )


@check("read-only", group="determinism", kinds=ESTIMATORS, needs=(*REPEATABLE, "inputs-unchanged"))
def accepts_read_only_arrays(subject: Opened) -> None:
    """Read-only arrays are accepted, with the same result.

    joblib memory-maps large arrays as read-only, and NumPy marks broadcast views as read-only.
    """
    X, y = subject.sample()
    rows = boundary_rows(X, subject.rng())
    expected = subject.answer(X, y, rows)
    for array in (X, y, rows):
        array.flags.writeable = False
    use = "method.fit(X, y)" if subject.kind == "selector" else "method.fit(X, y).predict(X)"
    lines = ["X.flags.writeable = y.flags.writeable = False", use]
    try:
        result = result_of(subject, subject.make(), X, y, rows)
    except Exception as error:
        seen = f"it raised {describe_error(error)}"
        raise CheckFailedError("a fit on read-only arrays", seen, subject.snippet(*lines)) from error
    if bits(result) != bits(expected):
        raise CheckFailedError("the result of arrays that can be written", difference(subject, expected, result))


N_ROWS = 40
_ROUNDING = 1e-9
# A second way to predict the rows, with its code.
_WAYS = {
    "alone": "np.concatenate([method.predict(rows[[i]]) for i in range(40)])",
    "in reverse order": "method.predict(rows[::-1])[::-1]",
    "again": "method.predict(rows)",
}


@check("rows-alone", group="leakage", kinds=("classifier", "regressor"), needs=REPEATABLE)
def predicts_each_row_alone(subject: Opened) -> None:
    """The class or number predicted for a row does not depend on the other rows predicted with it or before it.

    A learner that scales the test rows by their own mean, sorts them, or keeps learning from them is scored on what it
    learned from the test rows, and answers differently for a single row. Numbers may differ by rounding.
    """
    X, y = subject.sample()
    rows = boundary_rows(X, subject.rng())[:N_ROWS]
    method = subject.fit(X, y)
    together = _predict(method, rows)
    ways: dict[str, Callable[[], NDArray[Any]]] = {
        "alone": lambda: np.concatenate([_predict(method, rows[[row]]) for row in range(N_ROWS)]),
        "in reverse order": lambda: _predict(method, rows[::-1])[::-1],
        "again": lambda: _predict(method, rows),
    }
    for name, predict in ways.items():
        try:
            second = predict()
        except Exception as error:  # noqa: BLE001 - the exception is the answer
            seen = f"predicted {name}, they raise {describe_error(error)}"
        else:
            n_different = int((~_same(together, second)).sum()) if together.shape == second.shape else N_ROWS
            other = "class" if subject.kind == "classifier" else "number"
            seen = f"predicted {name}, {n_different} of {N_ROWS} rows get another {other}" if n_different else ""
        if seen:
            equal = "array_equal(together, {})" if subject.kind == "classifier" else "allclose(together, {}, rtol=1e-9)"
            raise CheckFailedError(
                "the same prediction for a row whatever other rows are predicted",
                seen,
                subject.snippet(
                    "from mfbench_check.repeating import boundary_rows",
                    f"rows = boundary_rows(X, np.random.default_rng({subject.seed}))[:{N_ROWS}]",
                    "together = method.fit(X, y).predict(rows)",
                    *_earlier(name),
                    f"assert np.{equal.format(_WAYS[name])}",
                ),
            )


def _same(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which predictions are equal, numbers up to rounding: BLAS adds in another order for another shape."""
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        return np.asarray(first == second)
    return np.asarray(np.isclose(first, second, rtol=_ROUNDING, atol=_ROUNDING * float(np.abs(first).max())))


def _earlier(name: str) -> list[str]:
    """Return the calls before the one that differs, since a classifier may learn from them."""
    before = list(_WAYS)[: list(_WAYS).index(name)]
    return ["; ".join(_WAYS[way] for way in before)] if before else []


def _predict(method: Any, rows: NDArray[np.float64]) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(method.predict(rows.copy()))


# Messages of operations deep inside a method, which refer to arrays that the user has never seen.
_INTERNAL = re.compile(
    r"not aligned|could not be broadcast|zero-size array|did not converge|setting an array element|truth value of an"
    r"|cannot reshape|matmul:|all the input array|array must not contain infs or nans|math domain error"
    r"|cannot convert float|need at least one array|empty sequence|probabilities (?:contain|do not|are not)"
    r"|kth\(|out of bounds|singular matrix|not enough values to unpack|too many values to unpack|is not in list"
    r"|inhomogeneous|high - low|low >= high|must be real number|exceeds the limit",
    re.IGNORECASE,
)


@check("one-feature", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_one_feature(subject: Opened) -> None:
    """A table with one feature gives a finite result or one clear ValueError.

    A wrapper method, such as a search over subsets, reaches one feature sooner or later.
    """
    _expect_result_or_sentence(subject, "one-feature")


@check("more-features-than-rows", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_few_rows(subject: Opened) -> None:
    """A table with more features than rows gives a finite result or one clear ValueError.

    Covariance matrices are singular precisely where feature selection is needed most.
    """
    _expect_result_or_sentence(subject, "more-features-than-rows")


@check("one-row-of-a-class", group="edges", kinds=OF_CLASSES, needs=RESULTS)
def survives_a_single_row(subject: Opened) -> None:
    """A class with a single row gives a finite result or one clear ValueError.

    A rare class has one row in some folds; such a row has no neighbour of its own class, and its class no variance.
    """
    _expect_result_or_sentence(subject, "one-row-of-a-class")


@check("missing-values", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def treats_missing_values(subject: Opened) -> None:
    """Missing values give a finite result, or one clear ValueError unless the method declares that it accepts them.

    A selector declares this by `raw_input` in its spec, any estimator by scikit-learn's tag `allow_nan`. The host
    imputes for all methods without `raw_input`; other code does not.
    """
    accepts = bool(getattr(subject.spec, "raw_input", False)) or _allows_nan(subject.make())
    _expect_result_or_sentence(subject, "missing-values", must_succeed=accepts)


@check("tiny-scale", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_tiny_values(subject: Opened) -> None:
    """Features of scale 1e-150 give a finite result or one clear ValueError.

    Squares of such values are representable, but products of three become zero: a method that divides by them gives
    NaN, which goes unnoticed until the weights are sorted.
    """
    _expect_result_or_sentence(subject, "tiny-scale")


@check("huge-scale", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_huge_values(subject: Opened) -> None:
    """Features of scale 1e150 give a finite result or one clear ValueError.

    Squares of such values are representable, but products of three become infinite. An overflow warning alone is not a
    failure.
    """
    _expect_result_or_sentence(subject, "huge-scale")


@check("many-classes", group="edges", kinds=OF_CLASSES, needs=RESULTS)
def survives_many_classes(subject: Opened) -> None:
    """Twelve classes of five rows give a finite result or one clear ValueError."""
    _expect_result_or_sentence(subject, "many-classes")


@check("refit", group="edges", kinds=ESTIMATORS, needs=REPEATABLE)
def forgets_an_earlier_fit(subject: Opened) -> None:
    """A method refitted on a table of another shape gives the same result as a new one.

    Anything kept from the first table is a leak between folds.
    """
    X, y = subject.sample("three-classes")
    X, y = X[:45, :4], y[:45]
    expected = subject.answer(X, y, X)
    method = subject.fit(*subject.sample())
    code = "feature_importances_" if subject.kind == "selector" else "predict(X[:45, :4])"
    snippet = subject.snippet(
        "from sklearn.base import clone",
        f"new = clone(method).fit(X[:45, :4], y[:45]).{code}",
        "method.fit(*sample())",
        f"again = method.fit(X[:45, :4], y[:45]).{code}",
        "assert np.array_equal(new, again), (new, again)",
        table="three-classes",
    )
    try:
        result = result_of(subject, method, X.copy(), y.copy())
    except Exception as error:
        seen = f"the second fit raised {describe_error(error)}"
        raise CheckFailedError("a second fit on a table of another shape", seen, snippet) from error
    if bits(result) != bits(expected):
        raise CheckFailedError("what a new method gives", difference(subject, expected, result), snippet)


def _expect_result_or_sentence(subject: Opened, table: str, *, must_succeed: bool = False) -> None:
    """Raise `CheckFailedError` unless a method gives a finite result on a sample or rejects it with a clear message."""
    X, y = subject.sample(table)
    seen = ""
    try:
        result = result_of(subject, subject.make(), X.copy(), y.copy())
    except Exception as error:  # noqa: BLE001 - the exception is judged below
        if must_succeed or not is_clear(error):
            seen = f"it raised {describe_error(error)}"
    else:
        seen = _problem(subject, result, X, y)
    if seen:
        raise CheckFailedError(
            "a finite result" if must_succeed else "a finite result or a ValueError with one clear sentence",
            seen,
            _snippet(subject, table, must_succeed=must_succeed),
        )


def _problem(subject: Opened, result: NDArray[Any], X: NDArray[Any], y: NDArray[Any]) -> str:
    """Return the problem with a result, or "" if there is none."""
    if subject.kind == "selector":
        if result.shape != (X.shape[1],):
            return f"weights of shape {result.shape} for {X.shape[1]} features"
        n_wrong = int((~np.isfinite(result)).sum())
        return f"{n_wrong} of {len(result)} weights are NaN or infinite" if n_wrong else ""
    if result.shape != y.shape:
        return f"predictions of shape {result.shape} for {len(y)} rows"
    if subject.kind == "regressor":
        return "" if np.isfinite(result).all() else "predictions that are NaN or infinite"
    return "" if np.isin(result, y).all() else "predictions that are not among the classes"


def is_clear(error: BaseException) -> bool:
    """Return whether an error explains to a user what is wrong with the table.

    Only its first line counts: scikit-learn adds hints below.

    Examples
    --------
    >>> is_clear(ValueError("mean-gap needs two rows of each class; class 2 has one"))
    True
    >>> is_clear(ValueError("shapes (3,4) and (3,4) not aligned")), is_clear(IndexError("index 1"))
    (False, False)
    """
    if not isinstance(error, ValueError) or isinstance(error, np.linalg.LinAlgError | UnicodeError):
        return False
    first = str(error).strip().partition("\n")[0]
    return bool(first) and not _INTERNAL.search(first)


def _allows_nan(method: Any) -> bool:
    if not hasattr(method, "__sklearn_tags__"):
        return False
    return bool(method.__sklearn_tags__().input_tags.allow_nan)


def _snippet(subject: Opened, table: str, *, must_succeed: bool) -> str:
    use = "method.fit(X, y).feature_importances_" if subject.kind == "selector" else "method.fit(X, y).predict(X)"
    test = "np.isin(result, y).all()" if subject.kind == "classifier" else "np.isfinite(result).all()"
    if must_succeed:
        return subject.snippet(f"result = {use}", f"assert {test}, result", table=table)
    return subject.snippet(
        "from mfbench_check.checks.fitting import is_clear",
        "try:",
        f"    result, error = {use}, None",
        "except Exception as raised:",
        "    result, error = y, raised",
        f"assert is_clear(error) if error else {test}, error or result",
        table=table,
    )


N_TRAIN = 40
_TOP = 2  # number of features that a selector passes on to its classifier
_POISONS = {"1e100": 1e100, "NaN": np.nan}


@check("poison", group="leakage", kinds=ESTIMATORS, needs=REPEATABLE)
def ignores_the_test_rows(subject: Opened) -> None:
    """Different values in the test rows change neither a selector's weights nor what a learner has learned.

    All test rows are replaced, once by 1e100 and once by missing values, and the method runs as in a benchmark. A
    method that reaches the test rows, through its callers' frames or objects in memory, is scored on rows that it has
    seen. The same happens if the host scales or imputes with all rows, so this checks the host as well.
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
            options = ")" if subject.kind == "selector" else f", {subject.kind!r}, clean=X)"
            raise CheckFailedError(
                f"the same {what} whatever is in the test rows",
                f"they differ after all test rows became {name}",
                subject.snippet(
                    "from mfbench_check.subjects import make_fold, run_on",
                    "poisoned = X.copy()",
                    f"poisoned[40:] = {'np.nan' if name == 'NaN' else name}",
                    f"first, second = ({code}{options}.{result} for table in (X, poisoned))",
                    "assert np.array_equal(first, second), (first, second)",
                ),
            )


def _learned(subject: Opened, X: NDArray[np.float64], y: NDArray[Any], clean: NDArray[np.float64]) -> list[bytes]:
    """Return what a method learns from the training rows: weights and selection, or predictions for clean rows."""
    seen = run_subject(subject, make_fold(X, y, N_TRAIN, missing=True), top=_TOP, clean=clean)
    if subject.kind != "selector":
        if not seen.clean:  # a learner that predicted the clean rows may still reject poisoned ones
            succeeded(seen)
        return [labels.tobytes() for labels in seen.clean]
    result = succeeded(seen).result
    assert result.weights is not None
    assert result.selected is not None
    return [result.weights.tobytes(), result.selected.tobytes()]


@check("rows-in-fit", group="leakage", kinds=ESTIMATORS, needs=RESULTS)
def is_fitted_on_training_rows(subject: Opened) -> None:
    """Through the host, each fit receives the training rows, each once, and never a view of a larger table.

    The method runs twice on one fold, as two methods of a suite do. A method that reaches into the fold and changes it
    exposes test rows to later fits.
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


def _wrong_rows(fit: FitInput, X: NDArray[np.float64], y: NDArray[Any]) -> str:
    if len(fit.X) != len(X):
        return f"{len(fit.X)} rows"
    if not np.array_equal(fit.X, X) or not np.array_equal(fit.y, y):
        return "other rows"
    if any(base.size > max(X.size, y.size) for base in fit.bases):  # NumPy makes transposed views of equal size
        return "a view of an array with more rows"
    return ""


def _rows_snippet(subject: Opened) -> str:
    return subject.snippet(
        "from mfbench_check.subjects import make_fold, run_on",
        "fold = make_fold(X, y, 40, 'none')",
        f"fits = [fit for name in 'ab' for fit in run_on(fold, method, {subject.kind!r}, name=name).inputs]",
        "assert all(np.array_equal(fit.X, X[:40]) and np.array_equal(fit.y, y[:40]) for fit in fits)",
    )
