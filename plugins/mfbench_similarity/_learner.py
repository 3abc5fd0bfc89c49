"""The base class of all learners of a similarity: table and pairs, forms of the matrix, weights of features."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mfbench_learners.estimators import ImportanceSelectorMixin
from mfbench_similarity._classifier import SimilarityClassifier, Voters
from mfbench_similarity._nearest.lists import Pairs, find_pairs, margins
from mfbench_similarity._nearest.table import NORMALIZATIONS, Compare, Matrix, Normalization, build_table

FORMS = ("square", "symmetric", "diagonal")


def symmetric_part(A: Matrix) -> Matrix:
    """Return (A + Aᵀ) / 2; a diagonal, passed as a vector, is returned as it is."""
    return A if A.ndim == 1 else (A + A.T) / 2


def in_form(product: Matrix, form: str) -> Matrix:
    """Return the part of a square matrix that a form keeps: all, the symmetric part, or the diagonal as a vector."""
    if form == "diagonal":
        return np.diag(product).copy()
    return symmetric_part(product) if form == "symmetric" else product


def project_psd(A: Matrix, learner: str = "projection") -> Matrix:
    """Return the nearest positive semi-definite matrix, which must not be zero: see `nearest_psd`.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features) or (n_features,)
        A matrix, or a diagonal as a vector.
    learner : str, default="projection"
        Name of the caller, for the error message.

    Returns
    -------
    ndarray of the same shape

    Raises
    ------
    ValueError
        If no eigenvalue is positive, rounding errors aside.
    """
    projected = nearest_psd(A)
    if not projected.any():
        values = A if A.ndim == 1 else np.linalg.eigvalsh(symmetric_part(A))
        raise ValueError(
            f"{learner}: the matrix has no positive eigenvalue (the largest is {values.max():.3g}, n_features = "
            f"{len(values)}), so its projection on the positive semi-definite matrices is zero and ranks no neighbour; "
            "use the learner without the projection, another n_neighbors, or centred features"
        )
    return projected


def nearest_psd(A: Matrix) -> Matrix:
    """Return the nearest positive semi-definite matrix: the symmetric part without its non-positive eigenvalues.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features) or (n_features,)
        A matrix, or a diagonal as a vector.

    Returns
    -------
    ndarray of the same shape
        Zero if no eigenvalue is positive, rounding errors aside.

    Notes
    -----
    Time O(p³), or O(p) for a diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_psd(np.array([[1.0, 0.0], [-4.0, 1.0]])).round(3).tolist()
    [[1.5, -1.5], [-1.5, 1.5]]
    >>> nearest_psd(np.array([-1.0, -2.0])).tolist()
    [0.0, 0.0]
    """
    if A.ndim == 1:
        values = A
    else:
        A = symmetric_part(A)
        if _is_definite(A):
            return A
        values, vectors = np.linalg.eigh(A)
    tolerance = np.abs(values).max() * len(values) * np.finfo(np.float64).eps
    positive = values > tolerance
    if A.ndim == 1:
        return np.where(positive, A, 0.0)
    kept = vectors[:, positive] * np.sqrt(values[positive])
    projected: Matrix = kept @ kept.T
    return projected


def _is_definite(A: Matrix) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are positive; much faster than computing them."""
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    return True


class SimilarityLearner(ImportanceSelectorMixin, SimilarityClassifier):
    """Base class of classifiers that learn a matrix per problem; `transform` keeps the features of positive weight."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SimilarityClassifier._parameter_constraints,
        "matrix": [StrOptions(set(FORMS))],
        "normalization": [StrOptions(set(NORMALIZATIONS)), callable],
    }

    degenerate_: bool

    def __init__(
        self,
        n_neighbors: int = 1,
        matrix: str = "square",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.matrix = matrix
        self.normalization = normalization
        self.rule = rule
        self.mode = mode

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Any:
        """Learn the similarity.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self
            The fitted classifier and selector.
        """
        X, codes = self._check_training(X, y)
        table = self._table = build_table(X, codes, self.normalization)
        rows, compare = self._neighbourhood(X)
        pairs = find_pairs(table, rows, compare, self._n_pairs, self._n_problems)
        self.degenerate_ = False
        self._begin()
        self._matrices = [self._learn(rows, pairs, problem) for problem in range(self._n_problems)]
        self._voters = [self._electorate(problem) for problem in range(self._n_problems)]
        self.margins_ = self._in_training_order(
            [margins(table, pairs, problem, A) for problem, A in enumerate(self._matrices)]
        )
        self._set_weights()
        shortfall = self._shortfall()
        if shortfall is not None:
            warnings.warn(f"{type(self).__name__} did not converge: {shortfall}", ConvergenceWarning, stacklevel=3)
        return self

    @property
    def _n_pairs(self) -> int:
        """Number of hits and of misses from which the matrix is learned."""
        return self.n_neighbors

    def _neighbourhood(self, X: Matrix) -> tuple[Matrix, Compare]:
        """Return the sorted training rows, and the function that compares them to find hits and misses."""
        return self._table.rows, self._compare(None)

    def _begin(self) -> None:
        """Initialise what `_learn` collects over the problems."""

    def _shortfall(self) -> str | None:
        """Return how far the iterations are from their end and what to do about it; None if there is nothing to do."""
        return None

    @abstractmethod
    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        """Learn the matrix of one problem; `rows` are those that `_neighbourhood` returned."""

    def _electorate(self, problem: int) -> Voters:
        """Return the matrices used for prediction, with their weights."""
        return [(1.0, self._matrices[problem])]

    def _or_identity(self, A: Matrix, problem: int, reason: str = "hits and misses do not differ") -> Matrix:
        """Return A, or, with a warning, the identity if A is zero, which would rank no neighbour."""
        if A.any():
            return A
        self.degenerate_ = True
        warnings.warn(
            f"{type(self).__name__}{self._problem_name(problem)}: {reason}, so nothing is learned and the "
            "identity is used",
            RuntimeWarning,
            stacklevel=4,
        )
        size = A.shape[0]
        identity: Matrix = (np.ones(size) if A.ndim == 1 else np.eye(size)) / np.sqrt(size)
        return identity

    def _set_weights(self) -> None:
        """Set the weight of each feature: its diagonal entry in the matrix of norm 1, averaged over problems."""
        diagonals = [A if A.ndim == 1 else np.diag(A) for A in self._matrices]
        norms = [np.linalg.norm(A) for A in self._matrices]
        self.weights_: Matrix = np.mean([d / norm for d, norm in zip(diagonals, norms, strict=True)], axis=0)
        self.feature_importances_ = self.weights_

    @property
    def matrices_(self) -> Matrix:
        """The learned matrices, shape (n_problems, n_features, n_features); built at each access."""
        check_is_fitted(self)
        matrices: Matrix = np.stack([np.diag(A) if A.ndim == 1 else A for A in self._matrices])
        return matrices

    @property
    def matrix_(self) -> Matrix:
        """The learned matrix, shape (n_features, n_features), if there is only one."""
        check_is_fitted(self)
        if len(self._matrices) > 1:
            raise AttributeError("there is one matrix per class: use matrices_")
        only: Matrix = self.matrices_[0]
        return only
