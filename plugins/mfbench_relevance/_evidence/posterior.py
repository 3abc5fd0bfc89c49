"""The nouns of evidence maximisation: a problem, the posterior of its weights for given precisions, a solution.

The model in the space of the kernel is phi(y) = sum_i w_i phi(f_i) + noise of variance s², w_i of variance 1 / beta_i.
Two forms of the same algebra compute it: from the kernel of features, in O(a³) for a active features, whatever the
number of rows; and, where the kernel is an inner product of fewer rows than features, from the n rows, in O(n² a).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

Vector = NDArray[np.float64]
NOISE_FLOOR = 1e-10


@dataclass
class Posterior:
    """The posterior of the active features' weights, given the hyperparameters.

    Attributes
    ----------
    active : ndarray of int
        Features that have not been removed.
    mean : ndarray of shape (n_active,)
        Mean of their weights.
    gamma : ndarray of shape (n_active,)
        How far the data determine each weight, from 0 to 1: 1 minus its precision times its variance.
    evidence : float
        Logarithm of the marginal likelihood.
    factor : ndarray
        Lower Cholesky factor of the matrix that the form of the problem factorises.
    residual : float
        Squared distance of the response from the mean prediction, in kernel space.
    """

    active: NDArray[np.intp]
    mean: Vector
    gamma: Vector
    evidence: float
    factor: NDArray[np.float64]
    residual: float


@dataclass
class Solution:
    """The result of evidence maximisation.

    Attributes
    ----------
    mean, beta : ndarray of shape (n_features,)
        Mean weight and precision of every feature; 0 and infinity if it was removed.
    noise : float
        Noise variance.
    trace : list of float
        Log evidence at every iteration, including the last state.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the last state is stationary.
    floored : bool
        Whether the noise variance is at its floor.
    change : float
        Largest change of the logarithm of a precision or of the noise variance in the last iteration.
    gain : float
        How much another feature would still raise the evidence; 0 if none would, or if none was tried.
    """

    mean: Vector
    beta: Vector
    noise: float
    trace: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    floored: bool = False
    change: float = 0.0
    gain: float = 0.0

    @property
    def fall(self) -> float:
        """Largest decrease of the evidence in one iteration; 0 if it never decreased."""
        return float(max(0.0, -np.diff(self.trace).min(initial=0.0)))


@dataclass(frozen=True)
class Problem(ABC):
    """One response and its noise.

    Attributes
    ----------
    k : ndarray of shape (n_features,)
        Kernel of features and response.
    kyy : float
        Kernel of the response with itself.
    n : float
        Number of observations in the likelihood.
    noise : float
        Noise variance: the initial one if it is learned, else the one to use.
    learn_noise : bool
        Whether the noise variance is learned.
    """

    k: Vector
    kyy: float
    n: float
    noise: float
    learn_noise: bool

    @property
    def floor(self) -> float:
        """Smallest noise variance."""
        return NOISE_FLOOR * self.kyy

    @property
    @abstractmethod
    def diagonal(self) -> Vector:
        """Kernel of every feature with itself."""

    @abstractmethod
    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        """Return weights and evidence for precisions of the active features."""

    @abstractmethod
    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        r"""Return S and Q of every feature: :math:`\phi_i^T C^{-1} \phi_i` and :math:`\phi_i^T C^{-1} \phi(y)`.

        C is the covariance of the response, noise and active features together.
        """


@dataclass(frozen=True)
class GramProblem(Problem):
    """A response and the kernel of all pairs of features.

    With A = K / s² + diag(beta) over the active features, the weights have mean A^-1 k / s² and covariance A^-1.

    Attributes
    ----------
    K : ndarray of shape (n_features, n_features)
    """

    K: NDArray[np.float64]

    @property
    def diagonal(self) -> Vector:
        """Kernel of every feature with itself."""
        return np.diagonal(self.K)

    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        r"""Return weights and evidence for precisions of the active features.

        .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi \sigma^2 + \log \det A - \sum_i \log \beta_i
            + (k_{yy} - k^T \mu) / \sigma^2 \right]

        Raises
        ------
        ValueError
            If A is not positive definite, which happens only with an indefinite kernel.
        """
        likelihood = self.n * np.log(2 * np.pi * noise)
        if len(active) == 0:
            empty = np.empty(0)
            evidence = -0.5 * (likelihood + self.kyy / noise)
            return Posterior(active, empty, empty, evidence, np.empty((0, 0)), self.kyy)
        k = self.k[active]
        K = self.K[np.ix_(active, active)]
        precision = K / noise
        precision[np.diag_indices_from(precision)] += beta
        try:
            factor = cholesky(precision, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                "the feature kernel is too far from positive semi-definite for evidence maximisation; set repair='clip'"
            ) from None
        inverse = solve_triangular(factor, np.eye(len(active)), lower=True, check_finite=False)
        mean = inverse.T @ (inverse @ (k / noise))
        variance = (inverse**2).sum(axis=0)
        constant = likelihood + 2 * np.log(np.diagonal(factor)).sum() - np.log(beta).sum()
        return Posterior(
            active,
            mean,
            np.clip(1 - beta * variance, np.finfo(np.float64).eps, 1.0),
            float(-0.5 * (constant + (self.kyy - k @ mean) / noise)),
            factor,
            float(self.kyy - 2 * mean @ k + mean @ K @ mean),
        )

    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        r"""Return S and Q of every feature.

        With the active features A, :math:`S = \operatorname{diag}(K)/\sigma^2 - \operatorname{diag}(K_A \Sigma K_A^T) /
        \sigma^4` and :math:`Q = (k - K_A \mu)/\sigma^2`. Time O(m a²) for a active of m features.
        """
        columns = self.K[:, state.active]
        spread = np.zeros(len(self.k))
        if len(state.active):
            spread = (solve_triangular(state.factor, columns.T, lower=True, check_finite=False) ** 2).sum(axis=0)
        S = np.maximum(self.diagonal / noise - spread / noise**2, 0.0)
        return S, (self.k - columns @ state.mean) / noise


@dataclass(frozen=True)
class RowProblem(Problem):
    r"""A response and features as vectors: k = Z^T t, and Z^T Z is the kernel of features.

    With the covariance of the response, :math:`C = \sigma^2 I + Z_A B^{-1} Z_A^T`, a feature has :math:`S_i = z_i^T
    C^{-1} z_i` and :math:`Q_i = z_i^T C^{-1} t`; an active one has mean :math:`Q_i / \beta_i` and :math:`\gamma_i = S_i
    / \beta_i`. These are sums of squares: unlike their counterparts in the kernel of features, which are differences
    of large numbers, they keep their digits when the noise is small, as it becomes if features outnumber rows.

    Attributes
    ----------
    Z : ndarray of shape (n_rows, n_features)
    t : ndarray of shape (n_rows,)
    """

    Z: NDArray[np.float64]
    t: Vector

    @property
    def diagonal(self) -> Vector:
        """Squared length of every feature."""
        lengths: Vector = np.einsum("ij,ij->j", self.Z, self.Z)
        return lengths

    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        r"""Return weights and evidence for precisions of the active features.

        .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi + (n - r) \log \sigma^2 + \log \det C + t^T C^{-1} t \right]

        for vectors of length r. Time O(r² a + r³) for a active features.
        """
        columns = self.Z[:, active]
        covariance = (columns / beta) @ columns.T
        covariance[np.diag_indices_from(covariance)] += noise
        factor = cholesky(covariance, lower=True, check_finite=False)
        S, Q, whitened = _projections(factor, columns, self.t)
        solved = solve_triangular(factor, whitened, lower=True, trans=1, check_finite=False)
        rest = (self.n - len(self.t)) * np.log(noise)
        constant = self.n * np.log(2 * np.pi) + rest + 2 * np.log(np.diagonal(factor)).sum()
        return Posterior(
            active,
            Q / beta,
            np.clip(S / beta, np.finfo(np.float64).tiny, 1.0),
            float(-0.5 * (constant + whitened @ whitened)),
            factor,
            float(noise**2 * (solved @ solved)),
        )

    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        """Return S and Q of every feature, in time O(r² m) for m features."""
        S, Q, _ = _projections(state.factor, self.Z, self.t)
        return S, Q


def _projections(factor: NDArray[np.float64], columns: NDArray[np.float64], t: Vector) -> tuple[Vector, Vector, Vector]:
    """Return S and Q of the columns, and the response in the metric of the inverse covariance."""
    vectors = solve_triangular(factor, columns, lower=True, check_finite=False)
    whitened: Vector = solve_triangular(factor, t, lower=True, check_finite=False)
    return np.einsum("ij,ij->j", vectors, vectors), vectors.T @ whitened, whitened
