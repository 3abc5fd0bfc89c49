"""Evidence maximisation over one precision per feature: everything through the kernel, never through rows.

The model in the space of the kernel is phi(y) = sum_i w_i phi(f_i) + noise of variance s², w_i of variance 1 / beta_i.
With A = K / s² + diag(beta) over the features that are left, the weights have mean A^-1 k / s² and covariance A^-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

Vector = NDArray[np.float64]
PRUNED = 1e9
LARGEST = 1e12  # beyond, 1 - beta variance has no digit left
NOISE_FLOOR = 1e-10


@dataclass
class Posterior:
    """The weights of the features that are left, given the hyper-parameters.

    Attributes
    ----------
    active : ndarray of int
        Features that are left.
    mean, variance : ndarray of shape (n_active,)
        Of their weights.
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
    """What evidence maximisation found.

    Attributes
    ----------
    mean, beta : ndarray of shape (n_features,)
        Mean weight and precision of every feature; 0 and infinity where a feature was removed.
    noise : float
        Noise variance.
    trace : list of float
        Log evidence at every iteration, the last state included.
    n_iter : int
        Iterations.
    converged : bool
    floored : bool
        Whether the noise variance was held at its floor.
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
        """Largest fall of the evidence in one iteration; 0 if it never fell."""
        return float(max(0.0, -np.diff(self.trace).min(initial=0.0)))


@dataclass(frozen=True)
class Problem:
    """The kernel of one response, and how its noise is told.

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
        Noise variance to start with, or to keep.
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
        """The least noise variance."""
        return NOISE_FLOOR * self.kyy


def posterior(problem: Problem, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
    r"""Return weights and evidence for precisions of the active features.

    .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi \sigma^2 + \log \det A - \sum_i \log \beta_i
        + (k_{yy} - k^T \mu) / \sigma^2 \right]

    Raises
    ------
    ValueError
        If A is not positive definite, which only an indefinite kernel can bring about.
    """
    likelihood = problem.n * np.log(2 * np.pi * noise)
    if len(active) == 0:
        none = np.empty(0)
        return Posterior(active, none, none, -0.5 * (likelihood + problem.kyy / noise), np.empty((0, 0)), problem.kyy)
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


def learned_noise(problem: Problem, state: Posterior, gamma: Vector) -> tuple[float, bool]:
    """Return the noise variance of equation (24), and whether it met its floor."""
    value = state.residual / max(problem.n - float(gamma.sum()), 1.0)
    return max(value, problem.floor), value < problem.floor


def fixed_point(
    problem: Problem,
    beta: Vector,
    max_iter: int,
    tol: float,
    *,
    prune: bool = True,
) -> Solution:
    r"""Repeat the two steps of the paper until precisions and noise stay.

    First :math:`\Sigma` and :math:`\mu` by equations (20) and (21), then, with :math:`\gamma_i = 1 - \beta_i
    \Sigma_{ii}`,

    .. math:: \beta_i \leftarrow \gamma_i / \mu_i^2, \qquad
       \sigma^2 \leftarrow \|\phi(y) - \phi(X) \mu\|^2 / (n - \sum_i \gamma_i).

    Parameters
    ----------
    problem : Problem
    beta : ndarray of shape (n_features,)
        Precisions to start with; a feature of infinite precision is out from the start.
    max_iter : int
    tol : float
        Largest change of the logarithm of a precision or of the noise variance at the end.
    prune : bool, default=True
        Whether features of a precision above 1e9 are removed; if not, precisions stop at 1e12.

    Returns
    -------
    Solution

    Notes
    -----
    Time O(a³) per iteration for a active features.

    References
    ----------
    Cheng et al., 2007, equations (20) to (24), with the 1/2 that (10), (15) and (16) lack.
    """
    found = Solution(np.zeros(len(beta)), np.full(len(beta), np.inf), problem.noise)
    active = np.flatnonzero(np.isfinite(beta) & (np.diagonal(problem.K) > 0))
    values = beta[active].astype(np.float64)
    while True:
        state = posterior(problem, active, values, found.noise)
        found.trace.append(state.evidence)
        if found.converged or found.n_iter == max_iter:
            break
        found.n_iter += 1
        gamma = np.clip(1 - values * state.variance, np.finfo(np.float64).eps, 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            new = gamma / state.mean**2
        noise = found.noise
        if problem.learn_noise:
            noise, floored = learned_noise(problem, state, gamma)
            found.floored |= floored
        kept = new <= PRUNED if prune else np.ones(len(new), dtype=bool)
        change = np.abs(np.log(np.minimum(new[kept], LARGEST) / values[kept])).max(initial=0.0) if kept.any() else 0.0
        found.converged = bool(kept.all() and max(change, abs(np.log(noise / found.noise))) < tol)
        active, values, found.noise = active[kept], np.minimum(new[kept], LARGEST), noise
    found.mean[active], found.beta[active] = state.mean, values
    return found
