"""The posterior of the weights and the evidence, with one precision per feature: from the kernel, not from rows.

The model in the space of the kernel is phi(y) = sum_i w_i phi(f_i) + noise of variance s², w_i of variance 1 / beta_i.
With A = K / s² + diag(beta) over the active features, the weights have mean A^-1 k / s² and covariance A^-1.
"""

from __future__ import annotations

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
    mean, variance : ndarray of shape (n_active,)
        Mean and variance of their weights.
    evidence : float
        Logarithm of the marginal likelihood.
    factor : ndarray of shape (n_active, n_active)
        Lower Cholesky factor of A, the inverse covariance.
    residual : float
        Squared distance of the response from the mean prediction, in kernel space.
    """

    active: NDArray[np.intp]
    mean: Vector
    variance: Vector
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
    floored : bool
        Whether the noise variance reached its floor.
    """

    mean: Vector
    beta: Vector
    noise: float
    trace: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    floored: bool = False

    @property
    def fall(self) -> float:
        """Largest decrease of the evidence in one iteration; 0 if it never decreased."""
        return float(max(0.0, -np.diff(self.trace).min(initial=0.0)))


@dataclass(frozen=True)
class Problem:
    """The kernel of one response, and its noise.

    Attributes
    ----------
    K : ndarray of shape (n_features, n_features)
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

    K: NDArray[np.float64]
    k: Vector
    kyy: float
    n: float
    noise: float
    learn_noise: bool

    @property
    def floor(self) -> float:
        """Smallest noise variance."""
        return NOISE_FLOOR * self.kyy


def posterior(problem: Problem, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
    r"""Return weights and evidence for precisions of the active features.

    .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi \sigma^2 + \log \det A - \sum_i \log \beta_i
        + (k_{yy} - k^T \mu) / \sigma^2 \right]

    Raises
    ------
    ValueError
        If A is not positive definite, which happens only with an indefinite kernel.
    """
    likelihood = problem.n * np.log(2 * np.pi * noise)
    if len(active) == 0:
        empty = np.empty(0)
        return Posterior(active, empty, empty, -0.5 * (likelihood + problem.kyy / noise), np.empty((0, 0)), problem.kyy)
    k = problem.k[active]
    K = problem.K[np.ix_(active, active)]
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
    constant = likelihood + 2 * np.log(np.diagonal(factor)).sum() - np.log(beta).sum()
    return Posterior(
        active,
        mean,
        (inverse**2).sum(axis=0),
        float(-0.5 * (constant + (problem.kyy - k @ mean) / noise)),
        factor,
        float(problem.kyy - 2 * mean @ k + mean @ K @ mean),
    )
