"""What `transform` does in learners of a metric: select features, or map rows to the space of the metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._available_if import available_if
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import MarginClassifier


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
