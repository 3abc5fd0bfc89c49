"""Checked data: classes as codes, and rows to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


def class_codes(estimator: Any, y: NDArray[Any]) -> NDArray[np.int64]:
    """Return class labels as codes 0 … n_classes - 1, and set ``classes_`` of the estimator.

    Parameters
    ----------
    estimator : object
        Named in messages.
    y : ndarray of shape (n_samples,)
        Class labels of any type that can be sorted.

    Returns
    -------
    ndarray of int64, shape (n_samples,)

    Raises
    ------
    ValueError
        If there are fewer than two classes, if the labels are not classes, or if they cannot be sorted.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> class_codes(SimpleNamespace(), np.array(["b", "a", "b"]))
    array([1, 0, 1])
    """
    try:
        check_classification_targets(y)
        estimator.classes_, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        if len(kinds) == 1:
            raise
        raise ValueError(
            f"y mixes labels that cannot be sorted ({', '.join(kinds)}); use labels of one type"
        ) from error
    if len(estimator.classes_) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in the data, "
            f"but the data contains only 1 class: {estimator.classes_.tolist()[0]}"
        )
    return codes.astype(np.int64)


class CheckedRowsMixin:
    """Rows to predict as float64, for a fitted estimator."""

    def _check_rows(self, X: Any) -> NDArray[np.float64]:
        """Return rows to predict, with as many features as those of `fit`."""
        check_is_fitted(self)
        checked: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return checked
