"""The fast sequential variant: each step adds, reweights or removes the feature that raises the evidence most.

It solves systems of equations only among the features in the model, so its time depends mainly on their number.
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
    """How much each feature could raise the evidence.

    Attributes
    ----------
    sparsity, quality : ndarray of shape (n_features,)
        s and q of the model without the feature in question.
    best : ndarray of shape (n_features,)
        The precision that maximises the evidence: s² / (q² - s), or infinity if q² is not above s.
    gain : ndarray of shape (n_features,)
        How much the evidence rises if the feature gets that precision; 0 if nothing changes.
    """

    sparsity: Vector
    quality: Vector
    best: Vector
    gain: Vector


def factors(problem: Problem, state: Posterior, beta: Vector, noise: float) -> Factors:
    r"""Return how much each feature could raise the evidence.

    With the active features A, :math:`S = \operatorname{diag}(K)/\sigma^2 - \operatorname{diag}(K_A \Sigma K_A^T) /
    \sigma^4` and :math:`Q = (k - K_A \mu)/\sigma^2`; for an active feature :math:`s = \beta S / (\beta - S)`,
    :math:`q = \beta Q / (\beta - S)`, for the others s = S and q = Q.

    Parameters
    ----------
    problem : Problem
    state : Posterior
        The current model.
    beta : ndarray of shape (n_features,)
        Current precisions; infinite for features that are not in the model.
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
    included = excess > 0
    best = np.full(len(beta), np.inf)
    best[included] = s[included] ** 2 / excess[included]
    # The gain is the difference of the part of the evidence that depends on this precision.
    gain = _contribution(s, q, best) - _contribution(s, q, beta)
    return Factors(s, q, best, np.where(usable, gain, 0.0))


def _contribution(s: Vector, q: Vector, beta: Vector) -> Vector:
    """Return the part of the evidence that depends on one precision, the others being fixed; 0 for an infinite one."""
    value = np.zeros(len(beta))
    inside = np.isfinite(beta)
    total = beta[inside] + s[inside]
    value[inside] = 0.5 * (np.log(beta[inside]) - np.log(total) + q[inside] ** 2 / total)
    return value


def sequential(problem: Problem, max_iter: int, tol: float) -> Solution:
    """Maximise the evidence feature by feature, then let precisions and noise in the model settle.

    Parameters
    ----------
    problem : Problem
    max_iter : int
        Largest number of steps, each of one feature, and of fixed-point iterations each time.
    tol : float
        As in `fixed_point`.

    Returns
    -------
    Solution
        Stationary in all precisions, including those of features that are not in the model: none would raise the
        evidence by entering.

    Notes
    -----
    Each step takes O(m a²) for a active of m features.

    References
    ----------
    M. E. Tipping, A. C. Faul: Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS 2003.
    """
    beta: NDArray[np.float64] = np.full(len(problem.k), np.inf)
    solution = Solution(np.zeros(len(beta)), beta, problem.noise)
    for _ in range(ROUNDS):
        steps = _step_until_settled(replace(problem, noise=solution.noise), beta, max_iter - solution.n_iter, solution)
        if (steps == 0 and solution.converged) or solution.n_iter >= max_iter:
            return solution
        settled = fixed_point(replace(problem, noise=solution.noise), beta, max_iter, tol)
        solution.trace += settled.trace
        solution.mean, solution.noise, solution.converged = settled.mean, settled.noise, settled.converged
        solution.floored |= settled.floored
        beta[:] = settled.beta
    solution.converged = False
    return solution


def _step_until_settled(problem: Problem, beta: Vector, max_steps: int, solution: Solution) -> int:
    """Change one precision after another, the best first; return the number of changes."""
    steps = 0
    while True:
        active = np.flatnonzero(np.isfinite(beta))
        state = posterior(problem, active, beta[active], problem.noise)
        table = factors(problem, state, beta, problem.noise)
        feature = int(np.argmax(table.gain))
        if table.gain[feature] < SMALLEST_GAIN or steps == max_steps:
            break
        beta[feature] = table.best[feature]
        steps += 1
        solution.n_iter += 1
        solution.trace.append(state.evidence)
    solution.mean[:] = 0.0
    solution.mean[active] = state.mean
    solution.beta = beta
    return steps
