"""A radial basis function network: Gaussian units at the centres of the classes, and a linear layer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from mfbench_baselines._classifier import CodedClassifier

# Number of neighbouring centres whose mean distance is a unit's width, and the smallest width.
NEIGHBOURS, MIN_WIDTH = 2, 1e-6


class RBFNetwork(CodedClassifier):
    r"""Gaussian units centred by k-means within each class, then multinomial logistic regression.

    The output of unit *m* is :math:`h_m(x) = e^{-\lVert x - c_m \rVert^2 / (2 s_m^2)}`; its width :math:`s_m` is the
    mean distance from its centre to the two nearest other centres. The output layer is logistic regression on the
    units, with an intercept and the penalty :math:`\tfrac{\alpha}{2} \lVert w \rVert^2` against the summed log loss.

    Parameters
    ----------
    n_centers : int, default=5
        Number of centres in each class; fewer if a class has fewer distinct rows.
    alpha : float, default=1e-3
        Strength of the penalty.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    centers_ : ndarray of shape (n_units, n_features)
        Centres, class by class.
    widths_ : ndarray of shape (n_units,)
        Widths of the units.
    output_ : sklearn.linear_model.LogisticRegression
        The linear layer.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    k-means runs from five starts, in O(n p c) time per sweep for c centres in total; the output layer then takes
    O(n c²) per Newton step. Widths are at least 1e-6.

    References
    ----------
    J. Moody, C. J. Darken, "Fast learning in networks of locally-tuned processing units", Neural Computation 1(2),
    1989, pages 281-294.

    S. Haykin, *Neural Networks: A Comprehensive Foundation*, Macmillan, 1994.

    Examples
    --------
    >>> from mfbench_baselines.rbf import RBFNetwork
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> RBFNetwork(n_centers=2, random_state=0).fit(X, y).predict([[0.1, 0.1], [0.1, 0.9]]).tolist()
    [0, 1]
    """

    def __init__(
        self, *, n_centers: int = 5, alpha: float = 1e-3, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_centers = n_centers
        self.alpha = alpha
        self.random_state = random_state

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if self.n_centers < 1 or self.alpha <= 0:
            raise ValueError(
                f"n_centers must be at least 1 and alpha above 0; got {self.n_centers!r} and {self.alpha!r}"
            )
        random = check_random_state(self.random_state)
        centers = []
        for code in range(len(self.classes_)):
            members = X[codes == code]
            count = min(self.n_centers, len(np.unique(members, axis=0)))
            centers.append(KMeans(count, n_init=5, random_state=random).fit(members).cluster_centers_)
        self.centers_ = np.vstack(centers)
        apart = np.sort(cdist(self.centers_, self.centers_), axis=1)[:, 1 : 1 + NEIGHBOURS]
        self.widths_ = np.maximum(apart.mean(axis=1), MIN_WIDTH)
        layer = LogisticRegression(C=1.0 / self.alpha, solver="newton-cholesky", max_iter=200)
        self.output_ = layer.fit(self._units(X), codes)

    def _units(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        units: NDArray[np.float64] = np.exp(-cdist(X, self.centers_, "sqeuclidean") / (2.0 * self.widths_**2))
        return units

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.output_.predict_proba(self._units(X)))
