"""The feature kernel: the comparison of all pairs of features, and of each with the response.

View of the data (`_kernel.views`) → kernel of all pairs → correction of its finite-sample bias → repair if it is
indefinite. The methods see nothing else of the data.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, eigh

from mfbench_relevance._kernel.views import CodedView, Matrix, NumericView, Pairwise, make_view

TOLERANCE = 1e-10
LARGEST_SAMPLE = 2000


@dataclass(frozen=True)
class Null:
    """The kernel between features and permuted responses: its values for features that carry no information.

    Attributes
    ----------
    values : ndarray of shape (n_permutations, n_targets, n_features)
    mean : ndarray of shape (n_features,)
        Mean over permutations, targets and all features with the same number of occupied bins.
    """

    values: NDArray[np.float64]
    mean: NDArray[np.float64]

    def level(
        self, quantile: float, *, centred: bool, two_sided: bool, unit: NDArray[np.float64] | None = None
    ) -> float:
        """Return a quantile of the values.

        Parameters
        ----------
        quantile : float
            From 0 to 1.
        centred : bool
            Whether to subtract the mean.
        two_sided : bool
            Whether to use absolute values, as for a kernel with negative values.
        unit : ndarray of shape (n_features,) or None, default=None
            The values are divided by it; features of unit 0 do not count.

        Returns
        -------
        float
            At least 0.
        """
        values = self.values - self.mean if centred else self.values
        if unit is not None:
            values = values[..., unit > 0] / unit[unit > 0]
        values = np.abs(values) if two_sided else values
        return max(float(np.quantile(values, quantile)), 0.0) if values.size else 0.0


@dataclass(frozen=True)
class FeatureKernel:
    """A feature kernel.

    Attributes
    ----------
    matrix : ndarray of shape (n_features + n_targets, n_features + n_targets)
        Kernel of the features, followed by the response. There is one target; a numeric kernel with more than two
        classes has one target per class.
    n_features : int
        Number of features.
    n_samples : int
        Number of rows from which the kernel was computed.
    smallest_eigenvalue : float or None
        Smallest eigenvalue of the matrix if it was indefinite, before the repair; None if it was not.
    """

    matrix: Matrix
    n_features: int
    n_samples: int
    smallest_eigenvalue: float | None = None

    @property
    def features(self) -> Matrix:
        """Kernel of all pairs of features (a view)."""
        return self.matrix[: self.n_features, : self.n_features]

    @property
    def cross(self) -> Matrix:
        """Kernel of targets and features, of shape (n_targets, n_features) (a view)."""
        return self.matrix[self.n_features :, : self.n_features]

    @property
    def target(self) -> NDArray[np.float64]:
        """Kernel of each target with itself."""
        return np.diagonal(self.matrix)[self.n_features :]

    @property
    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each feature with itself."""
        return np.diagonal(self.features)


class RowKernel:
    """The linear kernel of more features than rows: inner products, which need not be stored for all pairs.

    It has the properties of `FeatureKernel`, and is positive semi-definite as it is.

    Parameters
    ----------
    view : NumericView
        Its pairs are compared only when `matrix` or `features` is read.

    Attributes
    ----------
    rows : ndarray of shape (n_features + n_targets, n_samples)
        The standardised columns, followed by the response.
    """

    smallest_eigenvalue: float | None = None

    def __init__(self, view: NumericView) -> None:
        self._view = view
        self.rows = view.rows
        self.n_features = view.n_features
        self.n_samples = view.rows.shape[1]
        self.cross: Matrix = self.rows[self.n_features :] @ self.rows[: self.n_features].T

    @cached_property
    def matrix(self) -> Matrix:
        """Kernel of the features, followed by the response."""
        return self._view.gram()

    @property
    def features(self) -> Matrix:
        """Kernel of all pairs of features (a view)."""
        return self.matrix[: self.n_features, : self.n_features]

    @property
    def target(self) -> NDArray[np.float64]:
        """Kernel of each target with itself."""
        return squared_lengths(self.rows[self.n_features :])

    @property
    def diagonal(self) -> NDArray[np.float64]:
        """Kernel of each feature with itself."""
        return squared_lengths(self.rows[: self.n_features])


Kernel: TypeAlias = FeatureKernel | RowKernel


def squared_lengths(rows: Matrix) -> NDArray[np.float64]:
    """Return the squared length of each row."""
    lengths: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows)
    return lengths


def feature_kernel(
    X: Any,
    y: Any,
    *,
    classes: bool = False,
    kernel: str | Pairwise = "mutual-information",
    bins: int = 16,
    target_bins: int = 4,
    binning: str = "frequency",
    bias: str = "none",
    gamma: float | None = None,
    degree: int = 3,
    coef0: float = 1.0,
    n_permutations: int = 20,
    random_state: Any = None,
) -> FeatureKernel:
    r"""Return the kernel of all pairs of features and the response.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers.
    y : array-like of shape (n_samples,)
        The response: numbers, or class codes.
    classes : bool, default=False
        Whether y holds class codes 0, 1, …
    kernel : {"mutual-information", "linear", "rbf", "polynomial"} or callable, default="mutual-information"
        Mutual information of the binned columns, in bits; or a kernel of standardised columns: :math:`u^T v`,
        :math:`\exp(-\gamma \|u - v\|^2)`, :math:`(\gamma u^T v + c_0)^d`. A callable takes two arrays of shapes
        (a, n_samples) and (b, n_samples), whose rows are standardised columns, and returns an array of shape (a, b).
    bins : int, default=16
        Number of bins of a feature; for mutual information.
    target_bins : int, default=4
        Number of bins of a numeric response; for mutual information. Classes are their own bins.
    binning : {"frequency", "width"}, default="frequency"
        Bins of equal frequency or of equal width.
    bias : {"none", "miller-madow", "null"}, default="none"
        Correction for the bias of finite samples. "miller-madow" subtracts :math:`(r_u-1)(r_v-1) / (2 n \ln 2)` from
        the mutual information of variables with r occupied bins and adds :math:`(r-1) / (2 n \ln 2)` to entropies;
        for mutual information only, and too strong for more than about 16 bins. "null" subtracts from the kernel of
        features and response its mean over permuted responses, and from that of two features its median, both in
        proportion to the number of occupied bins minus 1 where features differ in it; the diagonal stays.
    gamma : float or None, default=None
        Parameter of "rbf" and "polynomial"; None is 1 / n_samples.
    degree : int, default=3
        Degree d of "polynomial".
    coef0 : float, default=1.0
        Constant term c0 of "polynomial".
    n_permutations : int, default=20
        Number of permutations of y for ``bias="null"``.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    FeatureKernel

    Notes
    -----
    Time O(p² (n + N²)) for mutual information with N bins, O(p² n) for the others; memory 8 p² bytes and blocks. With
    more than 2000 features, the median is over the pairs of 2000 features, taken at equal steps.

    References
    ----------
    H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. MLDM
    2007, LNCS 4571:144-159, equation (26).

    Examples
    --------
    Two fair bits, their sum modulo 2, and a response that holds both bits. The kernel is indefinite:

    >>> import numpy as np
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> kernel = feature_kernel(X, [0, 1, 2, 3], bins=4, binning="width")
    >>> kernel.cross
    array([[1., 1., 1.]])
    >>> np.linalg.eigvalsh(kernel.matrix).round(4)
    array([-0.3028,  1.    ,  1.    ,  3.3028])
    """
    view = make_view(
        np.asarray(X, dtype=np.float64),
        np.asarray(y),
        n_classes=len(np.unique(y)) if classes else 0,
        kernel=kernel,
        bins=bins,
        target_bins=target_bins,
        binning=binning,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
    )
    null = permuted(view, n_permutations, np.random.RandomState(random_state)) if bias == "null" else None
    return kernel_of(view, bias, null)


def kernel_of(view: CodedView | NumericView, bias: str, null: Null | None = None) -> FeatureKernel:
    """Return the kernel of a view, corrected for its bias but not repaired."""
    matrix = view.gram()
    m = view.n_features
    freedom = view.freedom()
    if bias == "miller-madow":
        if not isinstance(view, CodedView):
            raise ValueError("bias='miller-madow' is for the mutual-information kernel; use 'none' or 'null'")
        unit = 1 / (2 * _n_samples(view) * np.log(2))
        diagonal = np.diagonal(matrix) + unit * freedom
        matrix -= unit * freedom[:, None] * freedom
        np.fill_diagonal(matrix, diagonal)
    elif null is not None and bias == "null":
        diagonal = np.diagonal(matrix).copy()
        matrix[:m, :m] -= _median(matrix[:m, :m], freedom[:m]) * freedom[:m, None] * freedom[:m]
        matrix[m:, :m] -= null.mean
        matrix[:m, m:] -= null.mean[:, None]
        np.fill_diagonal(matrix, diagonal)
    return FeatureKernel(matrix, m, _n_samples(view))


def permuted(view: CodedView | NumericView, n_permutations: int, random: np.random.RandomState) -> Null:
    """Return the kernel of the features with randomly permuted responses."""
    return _null_of(view, view.against(_orders(view, n_permutations, random)))


def compared(view: CodedView | NumericView, n_permutations: int, random: np.random.RandomState) -> tuple[Matrix, Null]:
    """Return the kernel of targets and features, of shape (n_targets, n_features), and that of permuted responses.

    Pairs of features are not compared, which saves the time that grows with the square of their number.
    """
    orders = _orders(view, n_permutations, random)
    values = view.against(np.vstack([np.arange(_n_samples(view)), orders]))
    return values[0], _null_of(view, values[1:])


def _orders(view: CodedView | NumericView, count: int, random: np.random.RandomState) -> NDArray[np.intp]:
    return np.array([random.permutation(_n_samples(view)) for _ in range(count)])


def _null_of(view: CodedView | NumericView, values: NDArray[np.float64]) -> Null:
    freedom = view.freedom()[: view.n_features]
    _, group = np.unique(freedom, return_inverse=True)
    means = np.bincount(group, values.mean(axis=(0, 1))) / np.bincount(group)
    return Null(values, means[group])


def repaired(kernel: FeatureKernel, repair: str) -> FeatureKernel:
    r"""Return the kernel, made positive semi-definite if necessary.

    Mutual information is not a Mercer kernel. An indefinite kernel of features and response is replaced by the nearest
    positive semi-definite one: negative eigenvalues become 0. The matrix includes the response, so the residual
    :math:`k_{yy} - 2 \mu^T k + \mu^T K \mu` cannot become negative.

    Parameters
    ----------
    kernel : FeatureKernel
    repair : {"clip", "raise", "ignore"}
        What to do with an eigenvalue below -1e-10 times the mean of the diagonal: clip and warn, raise an error, or
        leave it.

    Returns
    -------
    FeatureKernel
        The same object if there is nothing to repair.

    Raises
    ------
    ValueError
        If the kernel is indefinite and ``repair="raise"``.

    Warns
    -----
    RuntimeWarning
        If the kernel is indefinite and ``repair="clip"``.

    Notes
    -----
    A Cholesky factorisation, p³ / 3 operations, shows whether the kernel is positive semi-definite; eigenvalues are
    computed only if it fails.

    Examples
    --------
    >>> import numpy as np
    >>> repaired(FeatureKernel(np.array([[1.0, 0.5], [0.5, 1.0]]), 1, 10), "raise").matrix
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    allowed = TOLERANCE * np.trace(kernel.matrix) / len(kernel.matrix)
    if repair == "ignore" or _is_semidefinite(kernel.matrix, allowed):
        return kernel
    values, vectors = eigh(kernel.matrix)
    smallest = float(values[0])
    if smallest >= -allowed:
        return kernel
    if repair == "raise":
        raise ValueError(
            f"the feature kernel is indefinite: its smallest eigenvalue is {smallest:.3g}; set repair='clip' to "
            "replace it by the nearest positive semi-definite one"
        )
    warnings.warn(
        f"the feature kernel is indefinite: {int((values < -allowed).sum())} of {len(values)} eigenvalues are "
        f"negative, the smallest is {smallest:.3g}; they are set to 0",
        RuntimeWarning,
        stacklevel=3,
    )
    vectors *= np.sqrt(np.maximum(values, 0.0))
    matrix = vectors @ vectors.T
    return replace(kernel, matrix=(matrix + matrix.T) / 2, smallest_eigenvalue=smallest)


def _is_semidefinite(matrix: Matrix, allowed: float) -> bool:
    shifted = matrix.copy()
    shifted[np.diag_indices_from(shifted)] += max(allowed, np.finfo(np.float64).tiny)
    try:
        cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def _median(features: Matrix, freedom: NDArray[np.float64]) -> float:
    """Return the median off the diagonal, per unit of freedom of both features; constant features do not count."""
    varying = np.flatnonzero(freedom > 0)
    if len(varying) > LARGEST_SAMPLE:
        varying = varying[np.linspace(0, len(varying) - 1, LARGEST_SAMPLE).astype(np.intp)]
    if len(varying) < 2:
        return 0.0
    sample = features[np.ix_(varying, varying)] / (freedom[varying, None] * freedom[varying])
    return float(np.median(sample[~np.eye(len(sample), dtype=bool)]))


def _n_samples(view: CodedView | NumericView) -> int:
    return int((view.codes if isinstance(view, CodedView) else view.rows).shape[1])
