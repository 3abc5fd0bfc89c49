"""The base of nearest-neighbour classifiers with a learned metric: span of the rows, mapping, prediction."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.neighbors import KNeighborsClassifier

from mfbench_baselines._classifier import CodedClassifier


def span(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an orthonormal basis of the centred rows if there are fewer rows than columns, else the identity.

    A metric that starts as the identity and learns from differences of training rows changes nothing outside that span,
    where training rows do not differ; learning it there is therefore exact.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    basis : ndarray of shape (n_components, n_features)
        Rows are basis vectors; at least one.
    """
    n, p = X.shape
    if p <= n:
        return np.eye(p)
    _, sizes, basis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return basis[: max(1, int(np.count_nonzero(sizes > sizes[0] * n * np.finfo(np.float64).eps)))]


class MetricClassifier(TransformerMixin, CodedClassifier):
    """Learn a linear map, then let the nearest training rows vote after mapping."""

    n_neighbors: int

    @abstractmethod
    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the map, of shape (n_components, n_features); X has coordinates in the `span` of the rows."""

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be at least 1; got {self.n_neighbors!r}")
        basis = span(X)
        self.components_ = self._learn(X @ basis.T, codes) @ basis
        self.feature_importances_ = (self.components_**2).sum(axis=0)
        self._neighbours = KNeighborsClassifier(n_neighbors=min(self.n_neighbors, len(X)), n_jobs=1)
        self._neighbours.fit(X @ self.components_.T, codes)

    @property
    def matrix_(self) -> NDArray[np.float64]:
        """The metric M = ``components_.T @ components_`` of shape (n_features, n_features); computed on access."""
        return self.components_.T @ self.components_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Map rows to the space in which the learned metric is the Euclidean distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        mapped : ndarray of shape (n_samples, n_components)
            The rows times ``components_.T``.
        """
        return self._check_rows(X) @ self.components_.T

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._neighbours.predict_proba(X @ self.components_.T))
