"""LFE, local feature extraction: the metric in which nearest misses lie farthest beyond nearest hits."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import MetricTransformer, varying, warn_degenerate
from mfbench_margin._nearest.classifier import NeighbourClassifier
from mfbench_margin._nearest.search import hits_and_misses, unit


class LFE(MetricTransformer, NeighbourClassifier):
    r"""Learn a full metric from the nearest hit and the nearest miss of every sample, in closed form.

    With :math:`H_i` the nearest other sample of the class of :math:`x_i` and :math:`M_i` the nearest of another class,
    both in the original space, LFE solves [1]_

    .. math:: \max_W \langle S, W \rangle, \quad W \succeq 0, \ \|W\|_F = 1, \qquad
       S = \sum_i \left[ (x_i - M_i)(x_i - M_i)^T - (x_i - H_i)(x_i - H_i)^T \right],

    the solution of which is :math:`W = \sum_a (\lambda_a)_+ v_a v_a^T / \|(\lambda)_+\|_2` for eigenpairs
    :math:`\lambda_a, v_a` of S. Samples are classified by a vote of their nearest neighbours in the metric
    :math:`(x - x')^T W (x - x')`.

    Parameters
    ----------
    n_components : int or None, default=None
        Maximum rank of W; None for no limit. W is then the solution among matrices of at most this rank.
    output : {"features", "metric"}, default="features"
        What `transform` returns: the features of positive weight, or the rows mapped to the space in which the learned
        metric is the squared Euclidean distance.
    n_neighbors : int, default=1
        Number of neighbours that vote on a prediction.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        The diagonal of W; at least 0.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    matrix_ : ndarray of shape (n_features, n_features)
        W. Computed on access: it takes 8 p² bytes, 3.2 GB for 20,000 features.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Same as ``matrix_``; signed off the diagonal.
    components_ : ndarray of shape (`n_components_`, n_features)
        Rows :math:`\sqrt{\eta_a} v_a`, largest :math:`\eta_a` first, so that W = ``components_.T @ components_``. The
        entry of largest absolute value in a row is positive.
    eigenvalues_ : ndarray of shape (`n_components_`,)
        The positive eigenvalues :math:`\eta_a` of W, descending; their squares sum to 1.
    objective_trace_ : list of float
        One value: the mean over samples of the margin, :math:`\langle S, W \rangle` divided by their number.
    n_iter_ : int
        1.
    converged_ : bool
        True.
    degenerate_ : bool
        True if S has no positive eigenvalue. W is then the identity on features that vary, divided by its norm,
        whatever `n_components`.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit and hence no margin, so means are
        taken over the other samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, y has fewer than two classes, or every sample is alone in its class.

    Warns
    -----
    RuntimeWarning
        If no direction keeps misses farther away than hits.

    See Also
    --------
    mfbench_margin.relief.Relief : With ``diff="sq", scale="none"``, its weights are the diagonal of S.

    Notes
    -----
    Time O(n² p) for the neighbours and O(n p² + p³) for the eigenvalues. With more features than samples, the samples
    are rotated into the n dimensions that they span, and S is computed there: O(n² p + n³) in total, memory O(n p).

    Differences are signed, and neighbours are searched for once, in the unweighted metric; standardise the features. A
    constant feature has weight exactly 0. Of equally near neighbours the one with the lowest training index counts; a
    duplicate is a valid neighbour. Rotating the axes rotates W likewise.

    References
    ----------
    .. [1] Y. Sun, D. Wu: A RELIEF based feature extraction algorithm. Proceedings of the SIAM International Conference
       on Data Mining (SDM), 2008, pages 188-195.

    Examples
    --------
    The classes differ in the sum of the first two features, not in either alone; the third is constant.

    >>> from mfbench_margin import LFE
    >>> X = [[0, 0, 7], [3, -3, 7], [-3, 3, 7], [1, 1, 7], [4, -2, 7], [-2, 4, 7]]
    >>> lfe = LFE(output="metric").fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> lfe.matrix_.round(3).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    >>> lfe.transform(X).round(3).T.tolist()
    [[0.0, 0.0, 0.0, 1.414, 1.414, 1.414]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighbourClassifier._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "output": [StrOptions({"features", "metric"})],
    }

    def __init__(self, n_components: int | None = None, output: str = "features", n_neighbors: int = 1) -> None:
        self.n_components = n_components
        self.output = output
        self.n_neighbors = n_neighbors

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        targets = np.flatnonzero(sample_weights)
        kept = varying(X)
        # Centring does not change differences, and saves digits.
        self._centre = X.mean(axis=0)
        rows = X[:, kept] - self._centre[kept]
        one = unit(rows)
        rows /= one
        hits, misses = hits_and_misses(rows, codes, targets)
        # n samples span at most n dimensions: with more features, use coordinates along orthonormal directions.
        directions = None
        if rows.shape[1] > len(rows):
            directions, triangle = np.linalg.qr(rows.T)
            rows = triangle.T
        eigenvalues, vectors = _positive_eigenpairs(rows[targets] - rows[misses], rows[targets] - rows[hits])
        eigenvalues, vectors = eigenvalues[: self.n_components], vectors[:, : self.n_components]
        norm = float(np.linalg.norm(eigenvalues))
        self.degenerate_ = norm == 0.0
        if self.degenerate_:
            warn_degenerate(self, "the original metric is used")
            self._set_weights(kept / np.linalg.norm(kept) if kept.any() else np.zeros(len(kept)))
            self.eigenvalues_ = self.weights_[kept]
        else:
            self.eigenvalues_ = eigenvalues / norm
            self._components = np.zeros((len(eigenvalues), X.shape[1]))
            scaled = vectors * np.sqrt(self.eigenvalues_)
            self._components[:, kept] = _largest_positive(scaled if directions is None else directions @ scaled).T
            self._set_weights(np.einsum("af,af->f", self._components, self._components))
        self.objective_trace_ = [norm * one * one / len(targets)]
        self.n_iter_, self.converged_ = 1, True
        self._remember(X, codes)

    @property
    def components_(self) -> NDArray[np.float64]:
        """Rows that map to the space of the learned metric."""
        check_is_fitted(self)
        if self.degenerate_:
            return np.diag(np.sqrt(self.weights_))[self.weights_ > 0]
        return self._components

    @property
    def matrix_(self) -> NDArray[np.float64]:
        """The matrix W of the learned metric; 8 p² bytes, computed at each access."""
        components = self.components_
        return components.T @ components

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """The matrix W: off the diagonal, the signed weight of the product of two features' differences."""
        return self.matrix_

    def _embed(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.degenerate_:
            return super()._embed(X)
        mapped: NDArray[np.float64] = (X - self._centre) @ self._components.T
        return mapped


def _positive_eigenpairs(
    misses: NDArray[np.float64], hits: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the positive eigenvalues of M^T M - H^T H, descending, and their eigenvectors as columns.

    Eigenvalues within the rounding error of the largest absolute one are 0.
    """
    n, p = misses.shape
    if p == 0:
        return np.empty(0), np.empty((0, 0))
    values, vectors = np.linalg.eigh(misses.T @ misses - hits.T @ hits)
    tolerance = np.abs(values).max() * max(n, p) * np.finfo(np.float64).eps
    order = np.flatnonzero(values > tolerance)[::-1]
    return values[order], vectors[:, order]


def _largest_positive(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns with signs flipped to make their entry of largest absolute value positive."""
    largest = np.abs(vectors).argmax(axis=0)
    turned: NDArray[np.float64] = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return turned
