"""What estimators of several plugins do alike: check data, select by importances, predict from probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
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


def find_targets(estimator: Any, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which samples have a hit, and hence a margin; set ``n_skipped_`` to the number of the others.

    A sample that is alone in its class is not a target, but still a miss of others.

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


class CheckedRowsMixin:
    """Rows to predict as float64, for a fitted estimator."""

    def _check_rows(self, X: Any) -> NDArray[np.float64]:
        """Return rows to predict, with as many features as those of `fit`."""
        check_is_fitted(self)
        checked: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, reset=False)
        return checked


class ImportanceSelectorMixin(SelectorMixin):
    """Selection of the features of positive ``feature_importances_``, or of a number of the most important ones."""

    n_features_to_select: int | None = None

    def _check_n_features_to_select(self, n_features: int) -> None:
        """Refuse a number of features that is not from 1 to `n_features`."""
        if self.n_features_to_select is not None and not 1 <= self.n_features_to_select <= n_features:
            raise ValueError(
                f"n_features_to_select must be None or from 1 to {n_features}, the number of features of X; "
                f"got {self.n_features_to_select!r}"
            )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        importances = np.asarray(self.feature_importances_)
        if self.n_features_to_select is None:
            return importances > 0
        mask = np.zeros(len(importances), dtype=bool)
        # A stable sort resolves ties in favour of the feature that comes first.
        mask[np.argsort(-importances, kind="stable")[: self.n_features_to_select]] = True
        return mask


class ProbabilityClassifier(CheckedRowsMixin, ClassifierMixin, BaseEstimator, ABC):
    """A classifier that predicts the most probable of its ``classes_``."""

    classes_: NDArray[Any]

    @abstractmethod
    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.floating]:
        """Return the probability of each class for checked rows."""

    def predict_proba(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; each row sums to 1.
        """
        return self._probabilities(self._check_rows(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable label of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Elements of `classes_`.
        """
        best = self.predict_proba(X).argmax(axis=1)  # first, because it checks that the classifier is fitted
        labels: NDArray[Any] = self.classes_[best]
        return labels
