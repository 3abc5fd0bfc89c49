"""HSIC lasso: the lasso on kernels between samples, one for each feature."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path, lars_path_gram
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from mfbench_learners.selectors import GreedySelector, are_numbers, standardised

Matrix = NDArray[np.float64]
MOST_IN_MATRIX = 2000
"""Number of features up to which the matrix of all pairs is computed first."""


class HSICLasso(GreedySelector):
    r"""Select features whose sample kernels together explain that of the response: the lasso of HSIC.

    Every feature has a Gaussian kernel between samples, and so have numbers to predict; of classes, two samples of one
    class have kernel :math:`1 / n_c`, others 0. With kernels centred and of Frobenius norm 1, the weights solve

    .. math:: \min_{\alpha \ge 0} \frac12 \| \bar L - \sum_k \alpha_k \bar K_k \|_F^2 + \lambda \sum_k \alpha_k,

    whose inner products are the Hilbert–Schmidt independence criteria of pairs of features, and of features and
    response: relevant features are kept and redundant ones are not, however nonlinear the relations. Features are
    ordered as they enter the path of decreasing :math:`\lambda`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the first on the path first; None keeps all that entered.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_ranked : int, default=50
        Maximum number of features that enter.
    block : int or None, default=20
        Kernels are computed within random blocks of that many samples [2]_; None treats all samples as one block.
    n_permutations : int, default=3
        Number of random partitions into blocks; more lower the variance.
    random_state : int, RandomState or None, default=None
        Seed of the partitions.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        1 for the first feature on the path, decreasing evenly; 0 for features that did not enter.
    order_ : ndarray of shape (n_taken,)
        The features in the order of the path.
    coef_ : ndarray of shape (n_features,)
        :math:`\alpha` at the end of the path.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    With blocks of *B* samples and *M* permutations, time is O(n B M p²) and memory O(B² p + p²) up to 2,000 features.
    With more, time is O(n B M p) for each feature that enters, and memory O(n B M p). Kernels have width 1 on
    standardised columns. A constant column never enters.

    References
    ----------
    .. [1] M. Yamada, W. Jitkrittum, L. Sigal, E. P. Xing, M. Sugiyama, "High-dimensional feature selection by
       feature-wise kernelized lasso", Neural Computation 26(1), 2014.
    .. [2] H. Climente-González, C.-A. Azencott, S. Kaski, M. Yamada, "Block HSIC Lasso: model-free biomarker detection
       for ultra-high dimensional data", Bioinformatics 35(14), 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_relevance.hsic import HSICLasso
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> HSICLasso(n_ranked=2, random_state=0).fit(X, X[:, 3] ** 2 + np.sin(2 * X[:, 7])).order_.tolist()
    [3, 7]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "n_ranked": [Interval(Integral, 1, None, closed="left")],
        "block": [Interval(Integral, 2, None, closed="left"), None],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_ranked: int = 50,
        block: int | None = 20,
        n_permutations: int = 3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.n_ranked = n_ranked
        self.block = block
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _order(self, X: NDArray[np.float64], y: NDArray[Any]) -> list[int]:
        blocks = self._blocks(len(X), check_random_state(self.random_state))
        columns, varies = standardised(X)
        usable = np.flatnonzero(varies)
        self.coef_ = np.zeros(X.shape[1])
        with warnings.catch_warnings():
            # The path ends where two features are the same.
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = _path(columns, y, blocks, 2 * self.n_ranked)
        entered = np.where((path > 0).any(axis=1), (path > 0).argmax(axis=1), path.shape[1])
        order = [int(j) for j in np.argsort(entered, kind="stable") if entered[j] < path.shape[1]]
        self.coef_[usable] = path[:, -1]
        return [int(usable[j]) for j in order[: self.n_ranked]]

    def _blocks(self, n: int, rng: np.random.RandomState) -> list[NDArray[np.intp]]:
        if self.block is None or self.block >= n:
            return [np.arange(n)]
        # Parts of nearly equal size, none below the half of a block.
        count = max(1, round(n / self.block))
        return [part for _ in range(self.n_permutations) for part in np.array_split(rng.permutation(n), count)]


def _path(columns: Matrix, y: NDArray[Any], blocks: list[NDArray[np.intp]], max_iter: int) -> Matrix:
    """Return the weights of each column along the path; its last column is the end."""
    p = columns.shape[1]
    responses = [_response(y, rows) for rows in blocks]
    size = float(np.linalg.norm(np.concatenate(responses)))
    if not p or size == 0:
        return np.zeros((p, 1))
    options: dict[str, Any] = {"method": "lasso", "positive": True, "max_iter": max_iter}
    if p > MOST_IN_MATRIX:
        features = np.vstack([_kernels(columns[rows]) for rows in blocks])
        scale = np.linalg.norm(features, axis=0)
        features /= np.where(scale > 0, scale, 1.0)
        return np.asarray(lars_path(features, np.concatenate(responses) / size, **options)[2])
    gram, cross = np.zeros((p, p)), np.zeros(p)
    for rows, response in zip(blocks, responses, strict=True):
        features = _kernels(columns[rows])
        gram += features.T @ features
        cross += features.T @ response
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0  # all rows of each block are equal
    gram /= np.outer(scale, scale)
    return np.asarray(lars_path_gram(Xy=cross / scale / size, Gram=gram, n_samples=1, **options)[2])


def _kernels(columns: Matrix) -> Matrix:
    """Return the centred Gaussian kernels of all columns of a block, each as a column."""
    kernels = np.exp(-0.5 * (columns[:, None, :] - columns[None, :, :]) ** 2)
    return _centred(kernels).reshape(-1, columns.shape[1])


def _response(y: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    if are_numbers(y):
        return _kernels(standardised(y[:, None])[0][rows])[:, 0]
    own = y[rows]
    kernel = (own[:, None] == own) / np.bincount(y)[own]
    return _centred(kernel[:, :, None]).ravel()


def _centred(kernels: Matrix) -> Matrix:
    """Centre symmetric kernels in both directions."""
    means = kernels.mean(axis=0)
    return np.asarray(kernels - means[None, :, :] - means[:, None, :] + means.mean(axis=0))
