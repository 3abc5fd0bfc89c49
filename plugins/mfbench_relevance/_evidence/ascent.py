"""Two ways to maximise the evidence: the fixed-point iteration of the paper, and a sequential variant.

The former computes the precisions of all features at once, then the noise variance. In the latter each step adds,
reweights or removes the feature that raises the evidence most; it solves systems of equations only among the features
in the model, so its time depends mainly on their number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mfbench_relevance._evidence.posterior import Posterior, Problem, Solution, Vector

PRUNED = 1e9
LARGEST = 1e12  # for larger precisions, 1 - beta variance has no correct digit
SMALLEST_GAIN = 1e-9
SETTLING = 20  # fixed-point iterations between two features
EQUAL = 1 - 1e-9  # the first of equal gains counts, such as those of duplicates, whatever the rounding


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


@dataclass
class Factors:
    """How much each feature could raise the evidence.

    Attributes
    ----------
    best : ndarray of shape (n_features,)
        The precision that maximises the evidence; infinite if the feature had better not be in the model.
    gain : ndarray of shape (n_features,)
        How much the evidence rises if the feature gets that precision; 0 if nothing changes.
    """

    best: Vector
    gain: Vector


def factors(problem: Problem, state: Posterior, beta: Vector, noise: float) -> Factors:
    r"""Return how much each feature could raise the evidence.

    For a feature outside the model, s and q are S and Q of `Problem.pull`. For one inside, their values without it are
    :math:`s = \gamma \beta / (1 - \gamma)` and :math:`q = \beta \mu / (1 - \gamma)`. The best precision is :math:`s^2 /
    (q^2 - s)` if :math:`q^2 > s`. Nothing is divided by :math:`1 - \gamma`, which is almost 0 if the data determine a
    weight.

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
    Time as `Problem.pull`.
    """
    S, Q = problem.pull(state, noise)
    left, inside = np.ones(len(beta)), state.active
    S[inside], Q[inside] = beta[inside] * state.gamma, beta[inside] * state.mean
    left[inside] = np.maximum(1 - state.gamma, np.finfo(np.float64).eps)
    excess = Q**2 - S * left
    included = (excess > 0) & (problem.diagonal > 0)
    best = np.full(len(beta), np.inf)
    best[included] = S[included] ** 2 / excess[included]
    best[best > PRUNED] = np.inf  # `fixed_point` would remove it at once
    was, will = np.isfinite(beta), np.isfinite(best)
    enters, changes, leaves = will & ~was, will & was, was & ~will
    # The difference of log(b / (b + s)) + q² / (b + s), the part of the evidence that depends on the precision b.
    total = best * left + S
    gain = np.zeros(len(beta))
    gain[enters] = np.log(best[enters] / total[enters]) + Q[enters] ** 2 / total[enters]
    gain[changes] = np.log(best[changes] / total[changes])
    gain[changes] += Q[changes] ** 2 * (1 - best[changes] / beta[changes]) / total[changes]
    gain[leaves] = -np.log(left[leaves]) - Q[leaves] ** 2 / (beta[leaves] * left[leaves])
    return Factors(best, gain / 2)


def sequential(problem: Problem, start: Solution, max_iter: int, tol: float) -> Solution:
    """Raise the evidence by one feature after another, letting precisions and noise settle in between.

    The noise is learned along with the model. If features were added until none gains before the noise is learned, they
    would explain the noise as well: the initial variance, a hundredth of the response's, is usually far too small.

    Parameters
    ----------
    problem : Problem
    start : Solution
        The model to begin with, such as `empty` or the result of `fixed_point`.
    max_iter : int
        Largest number of steps, and of fixed-point iterations at the end.
    tol : float
        As in `fixed_point`.

    Returns
    -------
    Solution
        ``converged`` means that the last model is stationary in all precisions, including those of features that are
        not in the model: none would raise the evidence by entering with a precision below 1e9. ``n_iter`` is the number
        of steps, and ``trace`` has the evidence after each of them.

    Notes
    -----
    Each step adds, reweights or removes the feature that gains most, and takes O(m a²) for a active of m features, or
    O(m n²) from n rows, and up to 20 fixed-point iterations on the active features.

    References
    ----------
    M. E. Tipping, A. C. Faul: Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS 2003.
    """
    model = start
    trace = []
    while True:
        active = np.flatnonzero(np.isfinite(model.beta))
        state = problem.posterior(active, model.beta[active], model.noise)
        trace.append(state.evidence)
        table = factors(problem, state, model.beta, model.noise)
        feature = int(np.argmax(table.gain >= EQUAL * table.gain.max(initial=0.0)))
        gains = bool(table.gain[feature] >= _smallest_gain(problem, model.noise))
        if (model.converged and not gains) or len(trace) > max_iter:
            break
        beta = model.beta.copy()
        if gains:
            beta[feature] = table.best[feature]
        model = fixed_point(replace(problem, noise=model.noise), beta, SETTLING if gains else max_iter, tol)
    gain = float(table.gain[feature]) if gains else 0.0
    return replace(model, trace=trace, n_iter=len(trace) - 1, converged=model.converged and not gains, gain=gain)


def empty(problem: Problem) -> Solution:
    """Return the model without features and with the initial noise."""
    m = len(problem.k)
    return Solution(np.zeros(m), np.full(m, np.inf), problem.noise)


def _smallest_gain(problem: Problem, noise: float) -> float:
    """Return a gain that rounding cannot feign: the smaller the noise, the less exact is the evidence."""
    return max(SMALLEST_GAIN, np.finfo(np.float64).eps * problem.kyy / noise)
