"""Edges: tables that real data come close to. A finite result or one clear ValueError, but nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import describe_error
from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, REPEATABLE, RESULTS, bits, difference, result_of
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Messages by which an operation deep in a method fails. They name arrays that the user has never seen.
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

    An outer method, such as a search over subsets, gets down to one feature sooner or later.
    """
    _expect_result_or_sentence(subject, "one-feature")


@check("more-features-than-rows", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_few_rows(subject: Opened) -> None:
    """A table with more features than rows gives a finite result or one clear ValueError.

    Where feature selection is most needed, covariance matrices are singular.
    """
    _expect_result_or_sentence(subject, "more-features-than-rows")


@check("one-row-of-a-class", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_a_single_row(subject: Opened) -> None:
    """A class with a single row gives a finite result or one clear ValueError.

    A rare class has one row in some folds; such a row has no neighbour of its own class, and its class no variance.
    """
    _expect_result_or_sentence(subject, "one-row-of-a-class")


@check("missing-values", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def treats_missing_values(subject: Opened) -> None:
    """Missing values give a finite result, or one clear ValueError unless the method declares that it accepts them.

    A selector declares it by `raw_input` in its spec, any estimator by scikit-learn's tag `allow_nan`. The host imputes
    for all methods but the former; other code does not.
    """
    accepts = bool(getattr(subject.spec, "raw_input", False)) or _allows_nan(subject.make())
    _expect_result_or_sentence(subject, "missing-values", must_succeed=accepts)


@check("tiny-scale", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_tiny_values(subject: Opened) -> None:
    """Features of scale 1e-150 give a finite result or one clear ValueError.

    Squares of such values can still be represented, products of three become zero: a method that divides by them
    gives NaN, unseen until the weights are sorted.
    """
    _expect_result_or_sentence(subject, "tiny-scale")


@check("huge-scale", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_huge_values(subject: Opened) -> None:
    """Features of scale 1e150 give a finite result or one clear ValueError.

    Squares of such values can still be represented, products of three become infinite. A warning about an overflow
    alone is not a failure.
    """
    _expect_result_or_sentence(subject, "huge-scale")


@check("many-classes", group="edges", kinds=ESTIMATORS, needs=RESULTS)
def survives_many_classes(subject: Opened) -> None:
    """Twelve classes of five rows give a finite result or one clear ValueError."""
    _expect_result_or_sentence(subject, "many-classes")


@check("refit", group="edges", kinds=ESTIMATORS, needs=REPEATABLE)
def forgets_an_earlier_fit(subject: Opened) -> None:
    """A method that is fitted again on a table of another shape gives what a new one gives.

    What remains of the first table is a leak between folds.
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
    """Raise `CheckFailedError` unless a method gives a finite result on a sample or refuses it with a clear message."""
    X, y = subject.sample(table)
    seen = ""
    try:
        result = result_of(subject, subject.make(), X.copy(), y.copy())
    except Exception as error:  # noqa: BLE001 - what it raised is judged
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
    """Return what is wrong with a result; "" if nothing is."""
    if subject.kind == "selector":
        if result.shape != (X.shape[1],):
            return f"weights of shape {result.shape} for {X.shape[1]} features"
        n_wrong = int((~np.isfinite(result)).sum())
        return f"{n_wrong} of {len(result)} weights are NaN or infinite" if n_wrong else ""
    if result.shape != y.shape:
        return f"predictions of shape {result.shape} for {len(y)} rows"
    return "" if np.isin(result, y).all() else "predictions that are not among the classes"


def is_clear(error: BaseException) -> bool:
    """Return whether an error explains to a user what is wrong with the table.

    Its first line counts: scikit-learn adds hints below.

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
    test = "np.isfinite(result).all()" if subject.kind == "selector" else "np.isin(result, y).all()"
    if must_succeed:
        return subject.snippet(f"result = {use}", f"assert {test}, result", table=table)
    return subject.snippet(
        "from mfbench_check.checks.edges import is_clear",
        "try:",
        f"    result, error = {use}, None",
        "except Exception as raised:",
        "    result, error = y, raised",
        f"assert is_clear(error) if error else {test}, error or result",
        table=table,
    )
