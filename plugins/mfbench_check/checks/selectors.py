"""Contract of a selection: the support, the selected columns, their names and the importances agree."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.factories import parameter_names
from mfbench.host.probes import shown
from mfbench_check.agreement import SAME_WEIGHTS, difference, weight_distance
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.subjects import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

SELECTOR = ("selector",)
SOUND = ("importances-finite", "importances-length")
PATH_TOLERANCE = 1e-3  # relative to the largest weight
# Parameters for the number of selected features, most explicit first; max_features usually means something else, for
# example the number of features tried per split of a tree.
COUNTS = ("n_features_to_select", "n_features", "k")


@check("support", group="contract", kinds=SELECTOR, needs=SOUND)
def selects_what_it_ranks_first(subject: Opened) -> None:
    """`get_support`, `transform`, `get_feature_names_out` and `feature_importances_` describe the same selection.

    The benchmark reads the importances and a pipeline calls `transform`, so both must describe the same method. Without
    `get_support`, only the importances are checked.
    """
    X, y = subject.sample()
    estimator = subject.fit(X, y)
    if not hasattr(estimator, "get_support"):
        raise NotApplicableError("it has no get_support")
    support = np.asarray(estimator.get_support())
    if support.dtype.kind != "b" or support.shape != (X.shape[1],):
        raise CheckFailedError(
            f"get_support() is a mask of {X.shape[1]} features",
            f"an array of shape {support.shape} and type {support.dtype}",
            subject.snippet(
                "support = method.fit(X, y).get_support()",
                "assert support.dtype == bool and support.shape == (X.shape[1],), support",
            ),
        )
    _require_ranking(subject, np.asarray(estimator.feature_importances_), support)
    _require_columns(subject, estimator, X, support)
    _require_names(subject, estimator, support)


def _require_ranking(subject: Opened, weights: NDArray[np.float64], support: NDArray[np.bool_]) -> None:
    if not support.any() or support.all():
        return
    low, high = float(weights[support].min()), float(weights[~support].max())
    if low < high:
        raise CheckFailedError(
            "no feature outside the support is more important than one in it",
            f"a selected feature has the importance {low:.6g}, one that is not selected {high:.6g}",
            subject.snippet(
                "method.fit(X, y)",
                "weights, support = method.feature_importances_, method.get_support()",
                "assert weights[support].min() >= weights[~support].max(), (weights, support)",
            ),
        )


def _require_columns(subject: Opened, estimator: Any, X: NDArray[np.float64], support: NDArray[np.bool_]) -> None:
    if not support.any() or not hasattr(estimator, "transform"):
        return
    columns = np.asarray(estimator.transform(X))
    if not np.array_equal(columns, X[:, support]):
        raise CheckFailedError(
            "transform(X) is X[:, get_support()]",
            "its values differ" if columns.shape == X[:, support].shape else f"its shape is {columns.shape}",
            subject.snippet(
                "method.fit(X, y)",
                "assert np.array_equal(method.transform(X), X[:, method.get_support()])",
            ),
        )


def _require_names(subject: Opened, estimator: Any, support: NDArray[np.bool_]) -> None:
    if not hasattr(estimator, "get_feature_names_out"):
        return
    names = np.array([f"f{j}" for j in range(len(support))], dtype=object)
    out = list(estimator.get_feature_names_out(names))
    if out != list(names[support]):
        raise CheckFailedError(
            f"get_feature_names_out() returns {shown(list(names[support]))}",
            f"it returned {shown(out)}",
            subject.snippet(
                "method.fit(X, y)",
                "names = np.array([f'f{j}' for j in range(X.shape[1])], dtype=object)",
                "out = list(method.get_feature_names_out(names))",
                "assert out == list(names[method.get_support()]), out",
            ),
        )


@check("top-k", group="contract", kinds=SELECTOR, needs=("support",))
def selects_supersets(subject: Opened) -> str:
    """The k + 1 features selected contain the k features selected, for a selector with a parameter for their number.

    Curves over the number of features assume one ranking. Selections by importance are nested by construction; the
    selector's own selections need not be.
    """
    parameter, supports = _nested(subject)
    for k, (support, larger) in enumerate(pairwise(supports), start=1):
        if support.sum() == k and not (support & ~larger).any():
            continue
        point: dict[str, Any] = {parameter: k}
        raise CheckFailedError(
            f"{k} features with {parameter}={k}, all of them among those with {parameter}={k + 1}",
            f"features {np.flatnonzero(support).tolist()}, then {np.flatnonzero(larger).tolist()}",
            subject.snippet(
                "first = method.fit(X, y).get_support()",
                f"then = method.set_params({parameter}={k + 1}).fit(X, y).get_support()",
                f"assert first.sum() == {k} and not (first & ~then).any(), (first, then)",
                **point,
            ),
        )
    return f"{len(supports)} values of {parameter}"


def _nested(subject: Opened) -> tuple[str, list[NDArray[np.bool_]]]:
    """Return the parameter for the number of selected features, and the support for each number."""
    X, y = subject.sample()
    if not hasattr(subject.fit(X, y), "get_support"):
        raise NotApplicableError("it has no get_support")
    accepted = parameter_names(subject.registered)
    for parameter in (name for name in COUNTS if name in accepted):
        points: list[dict[str, Any]] = [{parameter: k} for k in range(1, X.shape[1] + 1)]
        try:
            supports = [np.asarray(subject.fit(X, y, **point).get_support(), dtype=bool) for point in points]
        except CheckFailedError:
            if parameter == COUNTS[0]:
                raise
            continue  # a parameter with another meaning, for which a small number is not valid
        if parameter == COUNTS[0] or all(support.sum() == k for k, support in enumerate(supports, start=1)):
            return parameter, supports
    raise NotApplicableError("it has no parameter for the number of selected features")


@check("path", group="contract", kinds=SELECTOR, needs=("grid", *SOUND))
def follows_its_path(subject: Opened) -> str:
    """The method named in `path` returns, for each value in the grid, the importances of a fit with that value.

    Tuning uses the path instead of many fits. A path that deviates tunes a different method.
    """
    parameter, name, values = subject.tuned_path()
    values = sorted(values)
    X, y = subject.sample()
    fitted = subject.fit(X, y, **{parameter: values[-1]})
    for value in values:
        along = np.asarray(getattr(fitted, name)(value), dtype=np.float64)
        fresh = subject.weights(X, y, **{parameter: value})
        if along.shape != fresh.shape or not weight_distance(along, fresh) <= PATH_TOLERANCE:
            raise CheckFailedError(
                f"{name}({shown(value)}) returns the importances of a fit with {parameter}={shown(value)}",
                f"{np.array2string(along, precision=4)}, a fit gives {np.array2string(fresh, precision=4)}",
                subject.snippet(
                    f"along = method.fit(X, y).{name}({value!r})",
                    f"fresh = method.set_params({parameter}={value!r}).fit(X, y).feature_importances_",
                    f"bound = {PATH_TOLERANCE} * np.abs(fresh).max()",
                    "assert np.abs(along - fresh).max() <= bound, (along, fresh)",
                    **{parameter: values[-1]},
                ),
            )
    return f"{len(values)} values of {parameter}"


_WEIGHTS = "weights = method.fit(X, y).feature_importances_"


@check("importances-array", group="contract", kinds=SELECTOR, needs=("fit",))
def is_float_array(subject: Opened) -> None:
    """`feature_importances_` is a one-dimensional array of floats.

    A list, a matrix or an array of integers or objects works in some places and fails in others.
    """
    X, y = subject.sample()
    weights = subject.fit(X, y).feature_importances_
    if isinstance(weights, np.ndarray) and weights.ndim == 1 and weights.dtype.kind == "f":
        return
    kind = f"an array of shape {weights.shape} and type {weights.dtype}" if isinstance(weights, np.ndarray) else ""
    raise CheckFailedError(
        "feature_importances_ as an array of floats of shape (n_features,)",
        kind or f"a {type(weights).__name__}",
        subject.snippet(
            _WEIGHTS,
            "assert isinstance(weights, np.ndarray) and weights.ndim == 1 and weights.dtype.kind == 'f', repr(weights)",
        ),
    )


@check("importances-length", group="contract", kinds=SELECTOR, needs=("fit", "importances-array"))
def has_one_per_feature(subject: Opened) -> None:
    """`feature_importances_` has one weight per feature."""
    X, y = subject.sample()
    n_weights = len(subject.weights(X, y))
    if n_weights != X.shape[1]:
        raise CheckFailedError(
            f"{X.shape[1]} weights for {X.shape[1]} features",
            f"{n_weights} weights",
            subject.snippet(_WEIGHTS, "assert len(weights) == X.shape[1], len(weights)"),
        )


@check("importances-finite", group="contract", kinds=SELECTOR, needs=("fit", "importances-array"))
def is_finite(subject: Opened) -> None:
    """No weight is NaN or infinite."""
    X, y = subject.sample()
    weights = subject.weights(X, y)
    if not np.isfinite(weights).all():
        first = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise CheckFailedError(
            "finite weights",
            f"the weight of feature {first} is {weights[first]}",
            subject.snippet(_WEIGHTS, "assert np.isfinite(weights).all(), weights"),
        )


NEEDS = ("importances-finite", "importances-length", "columns")
SEEDS = 4
CONSTANT = 0.1  # not exact in binary: the computed standard deviation of such a column is tiny, but not zero


@check("constant-column", group="symmetry", kinds=("selector",), needs=NEEDS)
def gives_constants_the_least(subject: Opened) -> None:
    """A constant column gets the smallest weight or zero, which is not the largest weight.

    It carries no information. Dividing by its standard deviation gives NaN or the largest weight of all, and several
    datasets in the usual repositories have such columns. A randomised method must pass with each of four seeds.
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
    """Return whether a weight is zero or the smallest, up to ties, and not the largest."""
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
