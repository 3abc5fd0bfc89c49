"""The sequential variant: each step adds, reweights or removes the feature that raises the evidence most.

It solves systems of equations only among the features in the model, so its time depends mainly on their number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mfbench_relevance._evidence.fixed_point import PRUNED, fixed_point
from mfbench_relevance._evidence.posterior import Posterior, Problem, Solution, Vector

SMALLEST_GAIN = 1e-9
SETTLING = 20  # fixed-point iterations between two features
EQUAL = 1 - 1e-9  # the first of equal gains counts, such as those of duplicates, whatever the rounding


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
