"""Base classes of estimators that learn feature weights or a metric from margins, and of those that also classify.

`fit` checks the input, determines which samples have a margin, and passes both to the estimator's `_learn`, which
stores its weights by `_set_weights`. `transform` selects features; with `MetricTransformer` it can also map rows to the
space of the learned metric.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._available_if import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mfbench_learners.estimators import CheckedRowsMixin, ImportanceSelectorMixin, class_codes, find_targets

# With sample weights that sum to more than this, or less than its inverse, the objective would overflow or vanish.
LARGEST_SUM = 1e100
# The message wherever values turn out to be too large.
TOO_LARGE = "the values of X are too large: distances overflow; scale them first"


class MarginLearner(ImportanceSelectorMixin, BaseEstimator):
    """Base class of selectors that weight features by margins; `transform` keeps the features of positive weight."""

    # Whether NaN in X marks a missing value.
    _allow_nan: ClassVar[bool] = False

    classes_: NDArray[Any]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features. Missing values are rejected, except by estimators that document how they treat NaN.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        X, codes = check_data(self, X, y)
        weights = np.where(find_targets(self, codes), _check_weights(sample_weight, X), 0.0)
        if not weights.any():
            raise ValueError(f"{type(self).__name__} needs a sample of positive weight that is not alone in its class")
        self._learn(X, codes, weights)
        self._warn_of_shortfall()
        return self

    def _warn_of_shortfall(self) -> None:
        shortfall = self._shortfall()
        if shortfall is not None:
            warnings.warn(f"{type(self).__name__} did not converge: {shortfall}", ConvergenceWarning, stacklevel=5)

    def _shortfall(self) -> str | None:
        """Return how far the iterations are from their end and what to do about it; None if there is nothing to do.

        Degenerate data have a warning of their own.
        """
        return None

    @abstractmethod
    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        """Learn from checked data; ``classes_`` and ``n_skipped_`` are set already.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Checked rows, contiguous in memory.
        codes : ndarray of int64, shape (n_samples,)
            Classes 0 … n_classes - 1, each present.
        sample_weights : ndarray of shape (n_samples,)
            Weight of each sample as a target: 0 for one that is alone in its class, else 1 or its sample weight.
        """

    @abstractmethod
    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        """Set the attributes that hold the weights."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self._allow_nan
        return tags


class MarginClassifier(CheckedRowsMixin, ClassifierMixin, MarginLearner):
    """Base class of selectors that also classify, by a distance with the learned weights."""

    weights_: NDArray[np.float64]

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        self.weights_ = weights
        self.feature_importances_ = weights


class WeightedMarginClassifier(MarginClassifier):
    """Base class of classifiers whose `fit` takes sample weights."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How much the margin of each sample counts, at least 0; None for 1 each. As a neighbour of others a sample
            always counts once: a weight of 2 is not the same as a second copy, nor a weight of 0 the same as no sample.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)


class ScoreClassifier(MarginClassifier):
    """Base class of classifiers that score every class and predict the one with the largest score."""

    @abstractmethod
    def _scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each class for checked rows, shape (n_samples, n_classes)."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes: negative expected distances, or votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            A column per class; with two classes, the second's score minus the first's.
        """
        scores = self._scores(self._check_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest score: the smallest expected distance, or the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels. Ties go to the class that comes first in ``classes_``.
        """
        largest = self._scores(self._check_rows(X)).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[largest]
        return labels


def check_data(estimator: MarginLearner, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return X as float64 and y as codes 0 … n_classes - 1; set ``classes_``.

    Rows are contiguous: results must not depend on the memory layout of X, not even by a rounding error.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers (NaN may be allowed), or y has fewer than two classes or labels that
        cannot be sorted.
    """
    finite = "allow-nan" if estimator._allow_nan else True
    X, y = validate_data(estimator, X, y, dtype=np.float64, order="C", ensure_all_finite=finite)
    return X, class_codes(estimator, y)


def _check_weights(sample_weight: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sample weights as an array, ones if None.

    Raises
    ------
    ValueError
        If they are negative, not finite, or so large or small that sums overflow or vanish.
    """
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > 0.0 and not 1.0 / LARGEST_SUM <= total <= LARGEST_SUM:
        raise ValueError(f"sample_weight sums to {total:.3g}; scale it to a sum near 1, as only its ratios matter")
    return weights


def varying(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which features are not constant. A constant feature cannot separate classes: its weight is exactly 0."""
    mask: NDArray[np.bool_] = (X[:1] != X).any(axis=0)
    return mask


def warn_degenerate(estimator: Any, fallback: str) -> None:
    """Warn that on average no feature keeps misses farther away than hits; state what is used instead."""
    warnings.warn(
        f"{type(estimator).__name__}: on average no feature keeps misses farther away than hits; {fallback}",
        RuntimeWarning,
        stacklevel=3,
    )


def _selects_features(estimator: MetricTransformer) -> bool:
    if estimator.output != "features":
        raise AttributeError('inverse_transform needs output="features"')
    return True


class MetricTransformer(MarginClassifier):
    """Base class of learners whose parameter ``output`` selects what `transform` returns.

    They have ``components_`` of shape (n_components, n_features): the learned metric is the squared Euclidean distance
    between rows mapped by it.
    """

    output: str
    components_: Any

    def transform(self, X: Any) -> Any:
        """Keep the features of positive weight; map to the space of the learned metric if ``output="metric"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_selected) or (n_samples, n_components)
            With ``output="metric"``, ``X @ components_.T``.
        """
        if self.output == "features":
            return super().transform(X)
        return self._check_rows(X) @ self.components_.T

    @available_if(_selects_features)
    def inverse_transform(self, X: Any) -> Any:
        """Insert zeros for features that `transform` removed; only if ``output="features"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            Rows of selected features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of what `transform` returns: selected features, or numbered directions.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features of X; unused if ``output="metric"``.

        Returns
        -------
        ndarray of str objects
        """
        if self.output == "features":
            names: NDArray[Any] = super().get_feature_names_out(input_features)
            return names
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{k}" for k in range(len(self.components_))], dtype=object)
