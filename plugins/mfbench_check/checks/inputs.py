"""Determinism of the data: a fit leaves its input as it was."""

from __future__ import annotations

from mfbench.errors import describe_error
from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, REPEATABLE, bits, boundary_rows, difference, result_of
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError


@check("inputs-unchanged", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def leaves_its_input(subject: Opened) -> None:
    """`fit` and `predict` change neither X nor y.

    A user goes on working with the arrays. The host copies its arrays for methods
    from outside; other code does not.
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

    joblib maps large arrays from files, read-only, and NumPy marks views of constants so.
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
