"""What estimators share that learn feature weights (or a metric) from margins and also classify with them.

Such an estimator is a classifier and a selector at once. Its `fit` checks the input with `check_data`, finds with
`find_targets` the samples that have a margin at all, learns, and leaves its weights with `_set_weights`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class MarginClassifier(ClassifierMixin, SelectorMixin, BaseEstimator):
    """Base class of classifiers that weigh features; `transform` keeps the features of positive weight."""

    weights_: NDArray[np.float64]
    classes_: NDArray[Any]

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        self.weights_ = weights
        self.feature_importances_ = weights

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.weights_ > 0

    def _check_rows(self, X: Any) -> NDArray[np.float64]:
        """Return rows to predict as float64."""
        check_is_fitted(self)
        checked: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_data(
    estimator: Any, X: Any, y: Any, *, allow_nan: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return X as float64 and y as codes 0 … n_classes - 1; set ``classes_``.

    Raises
    ------
    ValueError
        If X is not a finite table (NaN may be allowed) or y has fewer than two classes.
    """
    X, y = validate_data(estimator, X, y, dtype=np.float64, ensure_all_finite="allow-nan" if allow_nan else True)
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in the data, "
            f"but the data contains only 1 class: {estimator.classes_[0]!r}"
        )
    return X, codes.astype(np.int64)


def find_targets(estimator: Any, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which samples have a hit, and hence a margin; set ``n_skipped_`` to the number of the others.

    A sample that is alone in its class is no target, but still a miss of others.

    Raises
    ------
    ValueError
        If every sample is alone in its class.
    """
    has_hit: NDArray[np.bool_] = np.bincount(codes)[codes] > 1
    estimator.n_skipped_ = int(np.count_nonzero(~has_hit))
    if not has_hit.any():
        raise ValueError(
            f"{type(estimator).__name__} needs a class with at least 2 samples, but each of the "
            f"{len(codes)} samples is alone in its class"
        )
    return has_hit


def varying(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which features are not constant. A constant one never tells classes apart: its weight is exactly 0."""
    mask: NDArray[np.bool_] = (X[:1] != X).any(axis=0)
    return mask


def warn_degenerate(estimator: Any, fallback: str) -> None:
    """Tell that no direction keeps misses farther than hits, and what is used instead."""
    warnings.warn(
        f"{type(estimator).__name__}: on average no feature keeps misses farther away than hits; {fallback}",
        RuntimeWarning,
        stacklevel=3,
    )
