"""Nearest neighbours in a learned metric: an implementation of LMNN, and a wrapper of scikit-learn's NCA."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from mfbench_baselines._classifier import CodedClassifier
from mfbench_baselines._lmnn import find_targets, minimise


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


class LMNN(MetricClassifier):
    r"""Large margin nearest neighbour: keep targets near and rows of other classes a margin farther away.

    With :math:`d_{ij} = \lVert L (x_i - x_j) \rVert^2`, and *j* running over the targets of *i*, its k nearest rows of
    the same class in the original space, it minimises [1]_

    .. math::
        (1 - \mu) \sum_{i, j} d_{ij} + \mu \sum_{i, j} \sum_{l: y_l \ne y_i} [1 + d_{ij} - d_{il}]_+

    over the matrix L, starting from the identity. Rows are classified by the votes of their nearest training rows in
    the metric :math:`M = L^\top L`.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of targets of each row, and of neighbours that vote on a prediction.
    push : float, default=0.5
        The weight μ of the second sum, at least 0 and below 1.
    max_iter : int, default=5000
        Maximum number of quasi-Newton steps.
    tol : float, default=3e-5
        How closely the conditions of a minimum must hold at the end, see Notes. The objective then usually exceeds its
        minimum by a smaller share than this.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map L.
    matrix_ : ndarray of shape (n_features, n_features)
        M. Computed on access: it takes 8 p² bytes.
    feature_importances_ : ndarray of shape (n_features,)
        The diagonal of M.
    objective_trace_ : list of float
        The objective at the start and after each descent that lowered it, decreasing.
    n_iter_ : int
        Quasi-Newton steps.
    converged_ : bool
        Whether the conditions hold to `tol`.
    n_skipped_ : int
        Number of rows alone in their class. They have no target, but still act as impostors of other rows.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, every row is alone in its class, or a parameter is
        out of range.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` steps do not suffice.

    Notes
    -----
    L-BFGS on L, as in Weinberger and Saul's later programs, restricted to the pairs of rows that can contribute at
    the current L; after every 50 steps all pairs are checked again. The hinge has a kink, which is rounded off within
    a distance that shrinks until this changes the objective by less than the share `tol`. The problem is convex in M:
    with the derivative G of the smoothed objective in M, the fit ends when :math:`\langle G, M \rangle` is at most that
    share of it too, and no eigenvalue of G is below minus the square root of `tol`, relative to the derivative of the
    first sum. Hence L, which is square, cannot end in a poorer minimum, and rounding errors cannot end the descent
    early.

    Time O(n² p) for each check of all pairs, and O(m p + n p²) for each step in between, where m is the number of
    near pairs; memory O(n p + m). With more columns than rows, L is learned in the span of the centred rows, which
    changes nothing. A row in a class of m rows has at most m - 1 targets. Standardise the features first.

    References
    ----------
    .. [1] K. Q. Weinberger, L. K. Saul, "Distance metric learning for large margin nearest neighbor classification",
       Journal of Machine Learning Research 10, 2009, pages 207-244, equations 11 to 13.

    Examples
    --------
    The classes differ in the second column; the first is noise of a larger range.

    >>> from mfbench_baselines.metric import LMNN
    >>> X = [[0, 0], [4, 0], [8, 0], [0, 1], [4, 1], [8, 1]]
    >>> lmnn = LMNN(n_neighbors=1).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> bool(lmnn.feature_importances_[0] < 1e-3 < 0.9 < lmnn.feature_importances_[1])
    True
    """

    def __init__(self, *, n_neighbors: int = 3, push: float = 0.5, max_iter: int = 5000, tol: float = 3e-5) -> None:
        self.n_neighbors = n_neighbors
        self.push = push
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        if not 0 <= self.push < 1 or self.max_iter < 1 or self.tol <= 0:
            raise ValueError(
                "push must be at least 0 and below 1, max_iter at least 1 and tol above 0; "
                f"got {self.push!r}, {self.max_iter!r} and {self.tol!r}"
            )
        targets = find_targets(X, codes, self.n_neighbors)
        alone = targets[:, 0] < 0
        if alone.all():
            raise ValueError("LMNN needs a class of at least two rows; every row is alone in its class")
        self.n_skipped_ = int(np.count_nonzero(alone))
        descent = minimise(X, codes, targets, push=self.push, max_iter=self.max_iter, tol=self.tol)
        self.objective_trace_, self.n_iter_, self.converged_ = descent.trace, descent.steps, descent.converged
        if not descent.converged:
            warnings.warn(
                f"LMNN's metric has not converged after {descent.steps} steps; "
                "standardise the features, or raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return descent.components


class NCA(MetricClassifier):
    r"""Neighbourhood components analysis and nearest neighbours in the learned metric.

    Maximises :math:`\sum_i \sum_{j: y_j = y_i} p_{ij}` over L by `sklearn.neighbors.NeighborhoodComponentsAnalysis`,
    where :math:`p_{ij} \propto e^{-\lVert L (x_i - x_j) \rVert^2}` is the probability that *i* draws *j* as its
    neighbour.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of rows of L; None for a square L that starts as the identity. Otherwise L starts as the linear
        discriminants or principal components, as scikit-learn decides.
    n_neighbors : int, default=1
        Number of neighbours that vote on a prediction.
    max_iter : int, default=50
        Maximum number of quasi-Newton steps.
    tol : float, default=1e-5
        Tolerance of the solver.
    random_state : int, RandomState or None, default=None
        Seed of the initialisation.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map L.
    matrix_ : ndarray of shape (n_features, n_features)
        The metric. Computed on access: it takes 8 p² bytes.
    feature_importances_ : ndarray of shape (n_features,)
        Its diagonal.
    n_iter_ : int
        Quasi-Newton steps.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    scikit-learn's solver takes O(n² p) time and O(n²) memory per step. The default of `max_iter`, also scikit-learn's,
    stops it early and without a warning: the objective is not convex, and later steps hardly change predictions. With
    more columns than rows, L is learned in the span of the centred rows.

    References
    ----------
    J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, "Neighbourhood components analysis", NIPS 17, 2004.

    Examples
    --------
    >>> from mfbench_baselines.metric import NCA
    >>> X = [[0, 0], [4, 0], [8, 0], [0, 1], [4, 1], [8, 1]]
    >>> NCA(random_state=0).fit(X, ["a", "a", "a", "b", "b", "b"]).predict([[4, 0.2], [4, 0.8]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        n_components: int | None = None,
        n_neighbors: int = 1,
        max_iter: int = 50,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        n_components = None if self.n_components is None else min(self.n_components, X.shape[1])
        model = NeighborhoodComponentsAnalysis(
            n_components=n_components,
            init="identity" if n_components is None else "auto",
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, codes)
        self.n_iter_ = model.n_iter_
        return np.asarray(model.components_)
