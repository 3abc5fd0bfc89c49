"""The fast sequential variant: one feature at a time is added, weighed anew or removed, whichever gains most evidence.

It never works on more features than are in the model, so that its time grows with their number, not with that of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mfbench_relevance._evidence.fixed_point import fixed_point
from mfbench_relevance._evidence.posterior import Posterior, Problem, Solution, Vector, posterior

SMALLEST_GAIN = 1e-9
ROUNDS = 50


@dataclass
class Factors:
    """How much every feature would change the evidence.

    Attributes
    ----------
    sparsity, quality : ndarray of shape (n_features,)
        s and q of the model without the feature in question.
    best : ndarray of shape (n_features,)
        The precision that maximises the evidence: s² / (q² - s), or infinity if q² is not above s.
    gain : ndarray of shape (n_features,)
        How much the evidence rises if the feature is given that precision; 0 where nothing changes.
    """

    sparsity: Vector
    quality: Vector
    best: Vector
    gain: Vector


def factors(problem: Problem, state: Posterior, beta: Vector, noise: float) -> Factors:
    r"""Return what every feature would bring.

    With the active features A, :math:`S = \operatorname{diag}(K)/\sigma^2 - \operatorname{diag}(K_A \Sigma K_A^T) /
    \sigma^4` and :math:`Q = (k - K_A \mu)/\sigma^2`; for an active feature :math:`s = \beta S / (\beta - S)`,
    :math:`q = \beta Q / (\beta - S)`, for the others s = S and q = Q.

    Parameters
    ----------
    problem : Problem
    state : Posterior
        The current model.
    beta : ndarray of shape (n_features,)
        Current precisions; infinite where a feature is out.
    noise : float

    Returns
    -------
    Factors

    Notes
    -----
    Time O(m a²) for a active of m features.
    """
    columns = problem.K[:, state.active]
    spread = np.zeros(len(beta))
    if len(state.active):
        spread = (solve_triangular(state.factor, columns.T, lower=True, check_finite=False) ** 2).sum(axis=0)
    S = np.maximum(np.diagonal(problem.K) / noise - spread / noise**2, 0.0)
    Q = (problem.k - columns @ state.mean) / noise
    s, q = S.copy(), Q.copy()
    inside = state.active
    left = np.maximum(beta[inside] - S[inside], np.finfo(np.float64).tiny)
    s[inside], q[inside] = beta[inside] * S[inside] / left, beta[inside] * Q[inside] / left
    usable = np.diagonal(problem.K) > 0
    excess = np.where(usable, q**2 - s, -1.0)
    wanted = excess > 0
    best = np.full(len(beta), np.inf)
    best[wanted] = s[wanted] ** 2 / excess[wanted]
    # The evidence of a feature alone, as a function of its precision; its difference is the gain.
    gain = _alone(s, q, best) - _alone(s, q, beta)
    return Factors(s, q, best, np.where(usable, gain, 0.0))


def _alone(s: Vector, q: Vector, beta: Vector) -> Vector:
    """Return the part of the evidence that depends on one precision, all others held; 0 for an infinite one."""
    value = np.zeros(len(beta))
    inside = np.isfinite(beta)
    total = beta[inside] + s[inside]
    value[inside] = 0.5 * (np.log(beta[inside]) - np.log(total) + q[inside] ** 2 / total)
    return value


def sequential(problem: Problem, max_iter: int, tol: float) -> Solution:
    """Maximise the evidence feature by feature, then settle precisions and noise among those that are in.

    Parameters
    ----------
    problem : Problem
    max_iter : int
        Most steps, each of one feature, and most iterations of each settling.
    tol : float
        As in `fixed_point`, for the settling.

    Returns
    -------
    Solution
        Stationary in all precisions, those of the features outside included: none would gain by coming in.

    Notes
    -----
    Each step takes O(m a²) for a active of m features.

    References
    ----------
    M. E. Tipping, A. C. Faul: Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS 2003.
    """
    beta: NDArray[np.float64] = np.full(len(problem.k), np.inf)
    found = Solution(np.zeros(len(beta)), beta, problem.noise)
    for _ in range(ROUNDS):
        steps = _step_until_settled(replace(problem, noise=found.noise), beta, max_iter - found.n_iter, found)
        if (steps == 0 and found.converged) or found.n_iter >= max_iter:
            return found
        settled = fixed_point(replace(problem, noise=found.noise), beta, max_iter, tol)
        found.trace += settled.trace
        found.mean, found.noise, found.converged = settled.mean, settled.noise, settled.converged
        found.floored |= settled.floored
        beta[:] = settled.beta
    found.converged = False
    return found


def _step_until_settled(problem: Problem, beta: Vector, max_steps: int, found: Solution) -> int:
    """Change one precision after the other, the best first; return how many were changed."""
    steps = 0
    while True:
        active = np.flatnonzero(np.isfinite(beta))
        state = posterior(problem, active, beta[active], problem.noise)
        table = factors(problem, state, beta, problem.noise)
        chosen = int(np.argmax(table.gain))
        if table.gain[chosen] < SMALLEST_GAIN or steps == max_steps:
            break
        beta[chosen] = table.best[chosen]
        steps += 1
        found.n_iter += 1
        found.trace.append(state.evidence)
    found.mean[:] = 0.0
    found.mean[active] = state.mean
    found.beta = beta
    return steps
