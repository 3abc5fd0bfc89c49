"""RBS: the similarity of largest total margin, in closed form, and its positive semi-definite version."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mfbench_similarity._learner import SimilarityLearner, in_form, nearest_psd
from mfbench_similarity._nearest.lists import Pairs, differences
from mfbench_similarity._nearest.table import Matrix, Normalization


class RBS(SimilarityLearner):
    r"""Learn the similarity of largest total margin between hits and misses.

    For a sample :math:`x_i` with its k most similar hits :math:`y_{iq}` and misses :math:`z_{iq}`, both found once with
    A = I, and :math:`s_A(x, y) = x^T A y / N(x, y)`, RBS solves [1]_

    .. math:: \max_A \sum_i \sum_{q=1}^k \left[ s_A(x_i, y_{iq}) - s_A(x_i, z_{iq}) \right], \quad \|A\|_F = 1,

    whose solution is :math:`A = G / \|G\|_F` with
    :math:`G = \sum_i x_i \sum_q (y_{iq} / N(x_i, y_{iq}) - z_{iq} / N(x_i, z_{iq}))^T`.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number k of hits and of misses of a sample, and of neighbours used for prediction.
    matrix : {"square", "symmetric", "diagonal"}, default="square"
        Form of A; "symmetric" replaces G by its symmetric part, "diagonal" by its diagonal.
    normalization : {"norms", "none"} or callable, default="norms"
        N: the product of the Euclidean norms, which with A = I gives the cosine; 1; or a function of two arrays of
        rows, (m, n_features) and (n, n_features), that returns an N of at least 0 for each pair, shape (m, n). Where N
        is 0, so is the similarity.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        Prediction by the votes of the k most similar training rows, or by the mean similarity of the k most similar
        rows of each class.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        One matrix that distinguishes all classes or, with more than two classes, one matrix per class, against the
        rest.

    Attributes
    ----------
    matrices_ : ndarray of shape (n_problems, n_features, n_features)
        A of each problem: one per class in mode "one-vs-rest" with more than two classes, else a single one.
    matrix_ : ndarray of shape (n_features, n_features)
        A, if there is one problem.
    margins_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Margin of each training sample, :math:`\sum_q s_A(x_i, y_{iq}) - s_A(x_i, z_{iq})`, with one column per problem
        if there are several. NaN for a sample without a hit.
    weights_, feature_importances_ : ndarray of shape (n_features,)
        The signed diagonal of A divided by the norm of A, averaged over problems. `transform` keeps features of
        positive weight.
    degenerate_ : bool
        True if hits and misses do not differ, that is, G = 0. A is then the identity divided by its norm.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit and therefore no margin, but are
        still misses of other samples.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, y has fewer than two classes, every sample is alone in its class, or a callable
        `normalization` returns a wrong shape or invalid values.

    Warns
    -----
    RuntimeWarning
        If hits and misses do not differ.

    Notes
    -----
    Time O(n² p) for the neighbours, as blocked matrix products, and O(n p²) per problem; memory O(n k) per problem,
    O(p²), and one block. The diagonal form needs O(p) instead of O(p²).

    If a sample has fewer than k hits or misses, the same smaller number of both counts. The paper's norm of G lacks the
    square.

    If all features are positive, all rows point in about the same direction, G is nearly of rank one, and the order of
    the training rows hardly depends on the sample: predictions are almost constant. Centre the features to avoid this.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section III-B.

    Examples
    --------
    Classes differ in the sign of the second feature; the first, which is larger, is noise.

    >>> from mfbench_similarity import RBS
    >>> rbs = RBS(normalization="none").fit([[2, 1], [-2, 1], [2, -1], [-2, -1]], [0, 0, 1, 1])
    >>> rbs.matrix_.round(3).tolist()
    [[-0.97, 0.0], [0.0, 0.243]]
    >>> rbs.margins_.round(3).tolist()
    [8.246, 8.246, 8.246, 8.246]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # On the three groups of points of scikit-learn's accuracy check RBS can fail: a few large margins outweigh many
        # small negative ones.
        tags.classifier_tags.poor_score = True
        return tags

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        return self._or_identity(self._solution(pairs, problem), problem)

    def _solution(self, pairs: Pairs, problem: int) -> Matrix:
        V = differences(self._table, pairs, problem)
        rows = self._table.rows
        G = np.einsum("ij,ij->j", rows, V) if self.matrix == "diagonal" else in_form(rows.T @ V, self.matrix)
        return unit_norm(G)


class RBSPSD(RBS):
    r"""RBS among positive semi-definite matrices.

    The matrix of largest total margin among those with :math:`A \succeq 0, \|A\|_F = 1` is the projection of the
    symmetric part of RBS's G on the positive semi-definite matrices, divided by its norm [1]_: the eigenvectors stay,
    non-positive eigenvalues become 0. Apart from N, the similarity is then a scalar product.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number k of hits and of misses of a sample, and of neighbours used for prediction.
    matrix : {"symmetric", "diagonal"}, default="symmetric"
        Form of A.
    normalization : {"norms", "none"} or callable, default="norms"
        As for `RBS`.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As for `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        As for `RBS`.

    Attributes
    ----------
    matrices_, matrix_, margins_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `RBS`.
    degenerate_ : bool
        True if the symmetric part of G has no positive eigenvalue for some problem. Its A is then the identity divided
        by its norm.

    Raises
    ------
    ValueError
        As for `RBS`.

    Warns
    -----
    RuntimeWarning
        If the symmetric part of G has no positive eigenvalue.

    Notes
    -----
    Without a positive eigenvalue every positive semi-definite matrix has a total margin of at most 0, and the paper
    does not define the method. The identity, with which hits and misses were found, then stays as it is.

    Time and memory as for `RBS`, and O(p³) for the eigenvalues. The paper projects A without making it symmetric first,
    which has no eigenvector decomposition as written.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section V-B.

    Examples
    --------
    >>> from mfbench_similarity import RBSPSD
    >>> X, y = [[2, 1], [-2, 1], [2, -1], [-2, -1]], [0, 0, 1, 1]
    >>> RBSPSD(normalization="none").fit(X, y).matrix_.round(3).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RBS._parameter_constraints,
        "matrix": [StrOptions({"symmetric", "diagonal"})],
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        matrix: str = "symmetric",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
    ) -> None:
        super().__init__(n_neighbors, matrix, normalization, rule, mode)

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        G = self._solution(pairs, problem)
        reason = "the matrix of the margins has no positive eigenvalue" if G.any() else "hits and misses do not differ"
        return self._or_identity(unit_norm(nearest_psd(G)), problem, reason)


def unit_norm(A: Matrix) -> Matrix:
    """Return A divided by its Frobenius norm; zero stays zero."""
    largest = float(np.abs(A).max())
    if largest == 0.0:
        return A
    # Dividing by the largest entry first prevents squares from overflowing or underflowing.
    scaled = A / largest
    unit: Matrix = scaled / np.linalg.norm(scaled)
    return unit
