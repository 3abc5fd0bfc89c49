"""Base classes of this plugin's classifiers: input checks, labels of any type, predictions from probabilities.

Also what several of them share: binary problems against the rest, and matrices of pairwise interactions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mfbench_learners.estimators import ProbabilityClassifier, class_codes

# The matrix of 5000 features takes 200 MB.
MAX_FEATURES = 5000


class CodedClassifier(ProbabilityClassifier):
    """A classifier that trains on class codes 0 … n_classes - 1 and predicts the original labels."""

    @abstractmethod
    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        """Learn from checked data with at least two classes; `classes_` is already set."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Class labels of any type: numbers, with or without gaps, or strings.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If `X` or `y` is malformed, `y` has a single class, or a parameter is out of range.
        """
        table, labels = validate_data(self, X, y, dtype=np.float64)
        self._fit_codes(table, class_codes(self, labels))
        return self


class ModelClassifier(CodedClassifier):
    """A wrapper around another package's classifier, which `_make_model` returns."""

    @abstractmethod
    def _make_model(self) -> BaseEstimator:
        """Return the unfitted model."""

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        self.model_ = self._make_model().fit(X, codes)

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.floating]:
        return np.asarray(self.model_.predict_proba(X))


def one_against_rest(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.bool_]:
    """Return the targets of the binary problems: the second class of two, or each class against the rest.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class codes.
    n_classes : int
        At least 2.

    Returns
    -------
    targets : ndarray of bool, shape (n_problems, n_samples)
        One row for two classes, otherwise `n_classes`.
    """
    targets: NDArray[np.bool_] = codes == (np.arange(n_classes)[:, None] if n_classes > 2 else np.array([[1]]))
    return targets


def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn the probability of each class against the rest into probabilities that sum to 1.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_problems)
        In the order of `one_against_rest`.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        Equal for all classes where every score is 0.
    """
    if scores.shape[1] == 1:
        return np.column_stack([1.0 - scores[:, 0], scores[:, 0]])
    total = scores.sum(axis=1, keepdims=True)
    equal = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, total, out=equal, where=total > 0))


def pair_matrix(estimator: Any, weights: Mapping[tuple[int, int], float]) -> NDArray[np.float64]:
    """Return ``interaction_importances_``: symmetric, 0 on the diagonal.

    Parameters
    ----------
    estimator : object
        A fitted estimator, with ``n_features_in_``.
    weights : mapping from (int, int) to float
        Weights of pairs of different features, each pair listed once.

    Returns
    -------
    matrix : ndarray of shape (n_features, n_features)
        0 for every other pair.

    Raises
    ------
    AttributeError
        With more than 5000 features, so that ``hasattr`` reports that the attribute does not exist.
    """
    p = estimator.n_features_in_
    if p > MAX_FEATURES:
        raise AttributeError(
            f"{type(estimator).__name__} has no interaction_importances_ for more than {MAX_FEATURES} features"
        )
    matrix = np.zeros((p, p))
    for (first, second), weight in weights.items():
        matrix[first, second] = matrix[second, first] = weight
    return matrix
