"""Contract of a selector's result: one finite float per feature."""

from __future__ import annotations

import numpy as np

from mfbench_check.catalog import check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError

SELECTOR = ("selector",)
_WEIGHTS = "weights = method.fit(X, y).feature_importances_"


@check("importances-array", group="contract", kinds=SELECTOR, needs=("fit",))
def is_float_array(subject: Opened) -> None:
    """`feature_importances_` is a one-dimensional array of floats.

    A list, a matrix or an array of integers or objects works in one place and fails in another.
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
