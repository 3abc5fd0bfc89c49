"""The fixed-point iteration of the paper: precisions of all features at once, then the noise variance."""

from __future__ import annotations

import numpy as np

from mfbench_relevance._evidence.posterior import Posterior, Problem, Solution, Vector

PRUNED = 1e9
LARGEST = 1e12  # for larger precisions, 1 - beta variance has no correct digit


def learned_noise(problem: Problem, state: Posterior) -> tuple[float, bool]:
    """Return the noise variance of equation (24), and whether it is at its floor."""
    value = state.residual / max(problem.n - float(state.gamma.sum()), 1.0)
    return max(value, problem.floor), value < problem.floor


def fixed_point(
    problem: Problem,
    beta: Vector,
    max_iter: int,
    tol: float,
    *,
    prune: bool = True,
) -> Solution:
    r"""Repeat the two steps of the paper until precisions and noise settle.

    First :math:`\Sigma` and :math:`\mu` by equations (20) and (21), then, with :math:`\gamma_i = 1 - \beta_i
    \Sigma_{ii}`,

    .. math:: \beta_i \leftarrow \gamma_i / \mu_i^2, \qquad
       \sigma^2 \leftarrow \|\phi(y) - \phi(X) \mu\|^2 / (n - \sum_i \gamma_i).

    Parameters
    ----------
    problem : Problem
    beta : ndarray of shape (n_features,)
        Initial precisions; a feature of infinite precision is left out from the start.
    max_iter : int
        Largest number of iterations.
    tol : float
        Largest change of the logarithm of a precision or of the noise variance at the end.
    prune : bool, default=True
        Whether to remove features of a precision above 1e9; if not, precisions are limited to 1e12.

    Returns
    -------
    Solution

    Notes
    -----
    Time O(a³) per iteration for a active features.

    References
    ----------
    Cheng et al., 2007, equations (20) to (24), with the factor 1/2 that (10), (15) and (16) lack.
    """
    solution = Solution(np.zeros(len(beta)), np.full(len(beta), np.inf), problem.noise)
    active = np.flatnonzero(np.isfinite(beta) & (problem.diagonal > 0))
    values = beta[active].astype(np.float64)
    while True:
        state = problem.posterior(active, values, solution.noise)
        solution.trace.append(state.evidence)
        if solution.converged or solution.n_iter == max_iter:
            break
        solution.n_iter += 1
        with np.errstate(divide="ignore", over="ignore"):
            new = state.gamma / state.mean**2
        noise = solution.noise
        if problem.learn_noise:
            noise, solution.floored = learned_noise(problem, state)
        kept = new <= PRUNED if prune else np.ones(len(new), dtype=bool)
        change = np.abs(np.log(np.minimum(new[kept], LARGEST) / values[kept])).max(initial=0.0) if kept.any() else 0.0
        solution.change = max(change, abs(np.log(noise / solution.noise)))
        solution.converged = bool(kept.all() and solution.change < tol)
        active, values, solution.noise = active[kept], np.minimum(new[kept], LARGEST), noise
    solution.mean[active], solution.beta[active] = state.mean, values
    return solution
