"""Leakage within the test rows: predictions that depend on the other rows of a call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import describe_error
from mfbench_check.catalog import check
from mfbench_check.repeating import REPEATABLE, boundary_rows
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_ROWS = 40
# How the rows are predicted a second time, and the code for it.
_WAYS = {
    "alone": "np.concatenate([method.predict(rows[[i]]) for i in range(40)])",
    "in reverse order": "method.predict(rows[::-1])[::-1]",
    "again": "method.predict(rows)",
}


@check("rows-alone", group="leakage", kinds=("classifier",), needs=REPEATABLE)
def predicts_each_row_alone(subject: Opened) -> None:
    """The class predicted for a row does not depend on the rows that are predicted with it or before it.

    A classifier that scales the test rows by their own mean, sorts them, or goes on learning from them is scored on
    what it learned from the test rows, and gives another answer for a single row.
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
        except Exception as error:  # noqa: BLE001 - what it raised is the answer
            seen = f"predicted {name}, they raise {describe_error(error)}"
        else:
            n_different = int((together != second).sum()) if together.shape == second.shape else N_ROWS
            seen = f"predicted {name}, {n_different} of {N_ROWS} rows get another class" if n_different else ""
        if seen:
            raise CheckFailedError(
                "the same class for a row whatever other rows are predicted",
                seen,
                subject.snippet(
                    "from mfbench_check.repeating import boundary_rows",
                    f"rows = boundary_rows(X, np.random.default_rng({subject.seed}))[:{N_ROWS}]",
                    "together = method.fit(X, y).predict(rows)",
                    *_earlier(name),
                    f"assert np.array_equal(together, {_WAYS[name]})",
                ),
            )


def _earlier(name: str) -> list[str]:
    """Return the calls before the one that differs: a classifier may learn from them."""
    before = list(_WAYS)[: list(_WAYS).index(name)]
    return ["; ".join(_WAYS[way] for way in before)] if before else []


def _predict(method: Any, rows: NDArray[np.float64]) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(method.predict(rows.copy()))
