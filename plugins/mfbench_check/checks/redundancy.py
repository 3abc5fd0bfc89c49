"""Symmetries of uninformative and repeated columns: a constant weighs least, equal columns weigh the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.factories import parameter_names
from mfbench_check.agreement import SAME_WEIGHTS, difference, weight_distance
from mfbench_check.catalog import check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEEDS = ("importances-finite", "importances-length", "columns")
SEEDS = 4
CONSTANT = 0.1  # not exact in binary: the computed standard deviation of such a column is tiny, but not zero


@check("constant-column", group="symmetry", kinds=("selector",), needs=NEEDS)
def gives_constants_the_least(subject: Opened) -> None:
    """A constant column gets the smallest weight or zero, which is not the largest weight.

    It cannot carry information. Dividing by its standard deviation gives NaN or the largest weight of all; several
    files of the usual repositories have such columns. A method with randomness must comply with each of four seeds.
    """
    X, y = subject.sample()
    table = np.column_stack([X, np.full(len(X), CONSTANT)])
    n_fits = SEEDS if "random_state" in parameter_names(subject.registered) else 1
    for k in range(n_fits):
        overrides: dict[str, Any] = {"random_state": subject.seed + k} if n_fits > 1 else {}
        weights = subject.weights(table, y, **overrides)
        if _is_least(weights[-1], weights[:-1]):
            continue
        raise CheckFailedError(
            "the constant column gets the smallest weight or zero, which is not the largest weight",
            f"its weight is {weights[-1]:.6g}, those of the others are {np.array2string(weights[:-1], precision=4)}",
            subject.snippet(
                f"table = np.column_stack([X, np.full(len(X), {CONSTANT})])",
                "*others, constant = method.fit(table, y).feature_importances_",
                f"bound = {SAME_WEIGHTS} * max(np.abs(others).max(), abs(constant))",
                "least = constant <= min(others) + bound or abs(constant) <= bound",
                "assert least and constant <= max(others) + bound, (others, constant)",
                **overrides,
            ),
        )


def _is_least(constant: float, others: NDArray[np.float64]) -> bool:
    """Tell whether a weight is zero or the smallest, up to ties, and not the largest."""
    bound = SAME_WEIGHTS * max(float(np.abs(others).max()), abs(constant))
    return bool((constant <= others.min() + bound or abs(constant) <= bound) and constant <= others.max() + bound)


@check("equal-columns", group="symmetry", kinds=("selector",), needs=NEEDS)
def weighs_equal_columns_equally(subject: Opened) -> None:
    """A copy of a column gets the same weight as the original.

    Which of two equal columns comes first says nothing about them. Sparse and stepwise methods select one of them by
    design and declare it.
    """
    X, y = subject.sample()
    table = np.column_stack([X, X[:, 0]])

    def plain(**parameters: Any) -> NDArray[np.float64]:
        return subject.weights(table, y, **parameters)

    def exchanged(**parameters: Any) -> NDArray[np.float64]:
        weights = plain(**parameters)
        weights[[0, -1]] = weights[[-1, 0]]
        return weights

    gap = difference(subject, plain, exchanged, weight_distance, SAME_WEIGHTS)
    if gap is None:
        return
    weights = plain()
    raise CheckFailedError(
        "equal weights for equal columns",
        f"the column has the weight {weights[0]:.6g}, its copy {weights[-1]:.6g}",
        subject.snippet(
            "table = np.column_stack([X, X[:, 0]])",
            "weights = method.fit(table, y).feature_importances_",
            f"bound = {SAME_WEIGHTS} * np.abs(weights).max()",
            "assert abs(weights[0] - weights[-1]) <= bound, weights",
        ),
    )
