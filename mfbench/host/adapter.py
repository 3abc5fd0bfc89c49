"""Adapter for selectors not written for mfbench: provides ``feature_importances_`` from what the estimator offers."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

LOOKED_FOR = (
    "a selector has, after fit(X, y), feature_importances_, coef_, scores_, ranking_, get_support() or support_, or a "
    "transform that leaves out columns and keeps the others as they are; a function f(X, y) returns scores, or the "
    "features to select, best first"
)
# Required parameters that set the number of features to return; they default to all features.
_COUNTS = ("k", "n_features", "n_features_to_select", "n_selected_features", "num_features")
# Error messages of estimators and functions that need the columns of a DataFrame but got an array.
_ASKS_FOR_FRAME = re.compile(r"DataFrame|pandas|'numpy\.ndarray' object has no attribute|valid indices")


class NoSelectorError(TypeError):
    """The fitted object offers nothing that ranks features."""


class FunctionSelector:
    """A function ``f(X, y)`` as an estimator; its return value is stored in `result_`."""

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
        accepted = list(inspect.signature(function).parameters.values())[2:]
        self._function = function
        self._params = {p.name: p.default for p in accepted if p.default is not p.empty} | dict(params)
        self.accepts_weights = "sample_weight" in inspect.signature(function).parameters
        self._count = next((p.name for p in accepted if p.name not in self._params and p.name.lower() in _COUNTS), None)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters other than X and y."""
        return dict(self._params)

    def set_params(self, **params: Any) -> None:
        """Set parameters other than X and y."""
        self._params |= params

    def fit(self, X: Any, y: Any, **weights: Any) -> None:
        """Call the function."""
        count = {} if self._count is None else {self._count: X.shape[1]}
        self.result_ = self._function(X, y, **count, **{**self._params, **weights})


class Adapted:
    """A selector whose weights are read from the fitted `estimator`."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __getattr__(self, name: str) -> Any:
        if name == "estimator":  # not yet set, in a copy
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator; empty if it cannot list them."""
        return dict(self.estimator.get_params(deep=deep)) if hasattr(self.estimator, "get_params") else {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator."""
        self.estimator.set_params(**params)
        return self

    def fit(self, X: NDArray[np.float64], y: NDArray[Any], **weights: Any) -> Self:
        """Fit the estimator on an array, or on a DataFrame if it asks for one."""
        if not hasattr(self.estimator, "fit"):
            raise NoSelectorError(f"it has no fit; {LOOKED_FOR}")
        names = [f"x{number}" for number in range(X.shape[1])]
        rows: Any = X
        try:
            self.estimator.fit(X, y, **weights)
        except Exception as error:
            if not _ASKS_FOR_FRAME.search(str(error)):
                raise
            import pandas as pd

            rows = pd.DataFrame(X, columns=names)
            self.estimator.fit(rows, pd.Series(y), **weights)
        self.feature_importances_, self.selects_a_set = _weights(self.estimator, rows, names)
        return self


def _weights(estimator: Any, rows: Any, names: list[str]) -> tuple[Any, bool]:
    """Return the weights of a fitted estimator, and whether they only mark a set of features."""
    if isinstance(estimator, FunctionSelector):
        return _of_result(estimator.result_, names)
    support = _support(estimator, len(names))
    for name in _READERS:
        offered = _by_name(getattr(estimator, name, None), names)
        shape = np.shape(offered)
        if len(shape) > 1 and shape[-1] == len(names) and name in ("feature_importances_", "coef_"):
            return _with_support(np.linalg.norm(np.reshape(offered, (-1, len(names))), axis=0), support), False
        if name == "feature_importances_" and offered is not None and support is None:
            return offered, False  # checked in the same way as for any other selector
        if shape == (len(names),):
            return _with_support(_READERS[name](offered), support), False
    if support is None and hasattr(estimator, "transform"):
        support = _kept(estimator, rows, names)
    if support is None:
        reason = "nothing of what it has after a fit ranks or selects features"
        if hasattr(estimator, "transform"):
            reason = "its transform makes new columns"
        raise NoSelectorError(f"{reason}; {LOOKED_FOR}")
    return support.astype(np.float64), True


def _by_name(values: Any, names: list[str]) -> Any:
    """Return values indexed by feature name in the order of the features; a series may be sorted by value."""
    if not isinstance(values, Mapping) and not hasattr(values, "reindex"):
        return values
    by_name = {str(name): value for name, value in dict(values).items()}
    return np.array([by_name.get(name, np.nan) for name in names]) if set(by_name) <= set(names) else values


def _support(estimator: Any, n_features: int) -> NDArray[np.bool_] | None:
    """Return a boolean mask of the selected features; some estimators use the attribute for other things, e.g. rows."""
    has_method = callable(getattr(estimator, "get_support", None))
    support = np.asarray(estimator.get_support() if has_method else getattr(estimator, "support_", None))
    return support if support.shape == (n_features,) and support.dtype == bool else None


def _with_support(weights: NDArray[Any], support: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Make exactly the weights of the selected features positive, keeping the order within both groups."""
    if support is None or np.array_equal(weights > 0, support):
        return weights
    inside, others = weights[support], weights[~support]
    inside = inside if (inside > 0).all() else rankdata(inside, "dense")
    weights = np.empty(len(weights))
    weights[support] = inside
    # Below the selected features in absolute value too.
    weights[~support] = -rankdata(-others, "dense") / len(weights) * inside.min(initial=1.0)
    return weights


def _finite(scores: Any) -> NDArray[np.float64]:
    """Replace undefined scores, for instance of constant features, so that they rank last."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.asarray(np.nan_to_num(scores, nan=np.min(scores, where=np.isfinite(scores), initial=0.0)))


def _kept(estimator: Any, rows: Any, names: list[str]) -> NDArray[np.bool_] | None:
    """Return the columns that a transform passes through unchanged; None if it creates new columns."""
    output = estimator.transform(rows)
    columns = [column.tobytes() for column in np.asarray(rows, dtype=np.float64).T]
    kept = np.zeros(len(names), dtype=bool)
    labels = map(str, getattr(output, "columns", [""] * np.shape(output)[1]))
    for label, column in zip(labels, np.asarray(output, dtype=np.float64).T, strict=True):
        # If the output has names, they distinguish equal columns.
        equal = [i for i, own in enumerate(columns) if own == column.tobytes() and not kept[i]]
        if not equal:
            return None
        kept[next((i for i in equal if names[i] == label), equal[0])] = True
    return kept


def _of_result(result: Any, names: list[str]) -> tuple[NDArray[np.float64], bool]:
    """Return the weights encoded in a function's return value, and whether they only mark a set of features."""
    if isinstance(result, tuple) and result and np.ndim(result[0]) == 1:
        result = result[0]  # for instance (F, p)
    values = np.asarray(_by_name(result, names))
    n_features = len(names)
    if values.ndim == 1 and values.dtype == bool and len(values) == n_features:
        return values.astype(np.float64), True
    if values.ndim == 1 and values.dtype.kind in "OUS" and set(map(str, values)) <= set(names):
        values = np.array([names.index(str(name)) for name in values], dtype=np.intp)
    if values.ndim == 1 and values.dtype.kind in "iu" and _are_features(values, n_features):
        weights = np.zeros(n_features)
        weights[values] = np.arange(len(values), 0, -1) / max(1, len(values))
        return weights, len(values) < n_features
    if values.shape == (n_features,) and values.dtype.kind in "iuf":
        return _finite(values), False
    returned = f"{type(result).__name__} of shape {values.shape} for {n_features} features"
    raise NoSelectorError(f"the function returned {returned}; {LOOKED_FOR}")


def _are_features(values: NDArray[Any], n_features: int) -> bool:
    """Return whether whole numbers are distinct feature indices rather than scores."""
    return len(np.unique(values)) == len(values) and bool(((values >= 0) & (values < n_features)).all())


# From a fitted attribute, with one number per feature, to weights.
_READERS: dict[str, Callable[[Any], NDArray[np.float64]]] = {
    "feature_importances_": lambda weights: np.asarray(weights, dtype=np.float64),
    "coef_": lambda coefficients: np.abs(np.asarray(coefficients, dtype=np.float64)),
    "scores_": _finite,
    "ranking_": lambda ranking: np.asarray(1.0 / rankdata(ranking, "dense")),
}
