"""The convex problem of the hierarchical lasso, weak and strong, by accelerated proximal gradient steps.

The variables of a problem with p features are an intercept and a matrix of p rows: row j has the two non-negative parts
of main effect j, then row j of the pairs, which those parts bound. Products are centred without an n × p² matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from mfbench_learners.compiled import njit

Matrix = NDArray[np.float64]

# Share of the penalty that is quadratic: it makes the two parts of a main effect unique.
QUADRATIC = 1e-8
# The largest penalty is raised by this share, so that rounding errors of the gradient do not let a term in.
ROUNDING = 1e-9
# Strong hierarchy: gradient steps per round, and rounds after which the weight of agreement is doubled or halved if one
# of its two errors is BALANCE times the other.
STEPS_PER_ROUND, ROUNDS_PER_BALANCE, BALANCE = 20, 5, 5.0


class Problem:
    """The data and the loss of one problem.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Centred columns.
    y : ndarray of shape (n_samples,)
        0 and 1 for "logistic", any numbers for "gaussian".
    family : {"logistic", "gaussian"}
        The loss: minus the log-likelihood, or half the sum of squares. A sum over samples, not a mean.
    squares : bool
        Whether squares of features are among the pairs.
    """

    def __init__(self, X: Matrix, y: Matrix, family: str, squares: bool) -> None:
        self.X, self.y, self.family, self.squares = X, y, family, squares
        n, p = X.shape
        self.mean_products = X.T @ X / n
        # A product of two features appears in two rows, a square in one.
        self.share = np.full((p, p), 0.5)
        np.fill_diagonal(self.share, 1.0 if squares else 0.0)
        self.step = 1.0  # of the next descent; a step that was too long is not tried again
        self.slopes_before: Matrix | None = None  # the gradient in the variables where all were last tested

    def start(self) -> tuple[Matrix, float]:
        """Return the variables of the empty model."""
        p = self.X.shape[1]
        mean = float(self.y.mean())
        if self.family == "logistic":
            mean = float(np.clip(mean, 1e-6, 1 - 1e-6))
            mean = float(np.log(mean / (1 - mean)))
        return np.zeros((p, p + 2)), mean

    def predictor(self, variables: Matrix, intercept: float, X: Matrix | None = None) -> Matrix:
        """Return η for rows, by default those of the problem."""
        X = self.X if X is None else X
        pairs = self.share * variables[:, 2:]
        linear = X @ (variables[:, 0] - variables[:, 1])
        eta: Matrix = intercept + linear + ((X @ pairs) * X).sum(axis=1) - float(np.vdot(pairs, self.mean_products))
        return eta

    def loss(self, eta: Matrix) -> float:
        """Return the loss at η."""
        if self.family == "gaussian":
            return 0.5 * float(((self.y - eta) ** 2).sum())
        return float((np.logaddexp(0.0, eta) - self.y * eta).sum())

    def residual(self, eta: Matrix) -> Matrix:
        """Return the loss's derivative in η."""
        return np.asarray((eta if self.family == "gaussian" else expit(eta)) - self.y)

    def gradient(self, eta: Matrix) -> tuple[Matrix, float]:
        """Return the loss's gradient in the variables and the intercept."""
        return self.slopes(self.residual(eta))

    def slopes(self, residual: Matrix) -> tuple[Matrix, float]:
        """Return the derivatives of ⟨residual, η⟩ in the variables and the intercept."""
        slopes = self.X.T @ residual
        total = float(residual.sum())
        pairs = (self.X * residual[:, None]).T @ self.X - total * self.mean_products
        return np.column_stack([slopes, -slopes, self.share * pairs]), total

    def lower_bound(self, eta: Matrix, prices: Matrix, penalty: float) -> float:
        """Return a number that no objective under strong hierarchy is below: the value of a point of the dual problem.

        At a minimum, with its prices, it is the minimum itself without the quadratic part of the penalty.

        Parameters
        ----------
        eta : ndarray of shape (n_samples,)
            The predictor, of which the residual is taken.
        prices : ndarray of shape (n_features, n_features)
            Prices of asymmetry in the pairs: an antisymmetric matrix.
        penalty : float
            λ.
        """
        residual = self.residual(eta)
        above, below = residual.clip(min=0.0), residual.clip(max=0.0)
        sums = above.sum(), -below.sum()
        if min(sums) == 0.0:
            return 0.0
        # The intercept is free, so the residuals must add up to 0. These factors also keep them feasible.
        residual = above * min(1.0, sums[1] / sums[0]) + below * min(1.0, sums[0] / sums[1])
        gradient, _ = self.slopes(residual)
        needed = _smallest_penalty(gradient[:, 0], gradient[:, 2:] + prices)
        residual *= min(1.0, penalty * (1.0 - QUADRATIC) / needed) if needed > 0 else 1.0
        if self.family == "gaussian":
            return -float(residual @ (0.5 * residual + self.y))
        shares = (residual + self.y).clip(0.0, 1.0)
        return -float((xlogy(shares, shares) + xlogy(1.0 - shares, 1.0 - shares)).sum())

    def largest_penalty(self) -> float:
        """Return the smallest penalty for which every main effect and pair is 0 under weak hierarchy.

        The result is raised by the share `ROUNDING`.
        """
        variables, intercept = self.start()
        gradient, _ = self.gradient(self.predictor(variables, intercept))
        return _smallest_penalty(gradient[:, 0], gradient[:, 2:]) * (1.0 + ROUNDING) / (1.0 - QUADRATIC)


def _smallest_penalty(main: Matrix, pairs: Matrix) -> float:
    """Return the smallest linear penalty that keeps all variables at 0, for gradients of main effects and pairs.

    Row j stays 0 if some multiplier a >= 0 satisfies |G_jk| <= λ/2 + a (λ + a for squares) and a <= λ - |g_j|, for
    gradients g of main effects and G of pairs. So pairs can require a larger penalty than main effects alone do.
    """
    main, pairs = np.abs(main), np.abs(pairs)
    square = np.diag(pairs).copy()
    np.fill_diagonal(pairs, 0.0)
    needs = [main, (main + pairs.max(axis=1)) * 2.0 / 3.0, (main + square) / 2.0]
    return float(np.max(needs))


def penalty_of(variables: Matrix, penalty: float) -> float:
    """Return the penalty of the variables."""
    linear, quadratic = penalty * (1.0 - QUADRATIC), penalty * QUADRATIC
    pairs = np.abs(variables[:, 2:])
    charge = variables[:, :2].sum() + 0.5 * (pairs.sum() + np.trace(pairs))
    return float(linear * charge + quadratic * (variables**2).sum())


def objective(problem: Problem, variables: Matrix, intercept: float, penalty: float) -> float:
    """Return the objective: loss plus penalty."""
    return problem.loss(problem.predictor(variables, intercept)) + penalty_of(variables, penalty)


def solve_weak(
    problem: Problem,
    penalty: float,
    start: tuple[Matrix, float],
    *,
    tol: float,
    max_iter: int,
    pull: tuple[float, Matrix] | None = None,
) -> tuple[Matrix, float, int]:
    """Minimise under weak hierarchy.

    Parameters
    ----------
    problem : Problem
        Its `step` is used and updated.
    penalty : float
        λ, above 0.
    start : (ndarray of shape (n_features, n_features + 2), float)
        Variables and intercept.
    tol : float
        Stop when no entry of the generalised gradient is larger than this.
    max_iter : int
        Maximum number of steps.
    pull : (float, ndarray of shape (n_features, n_features)) or None, default=None
        ρ and T: the objective gains the term ρ/2 ‖pairs - T‖².

    Returns
    -------
    variables : ndarray of shape (n_features, n_features + 2)
        The minimum.
    intercept : float
        Its intercept.
    steps : int
        Gradient steps; `max_iter` if the solver did not converge.
    """

    def smooth(at: Matrix, eta: Matrix) -> float:
        attraction = 0.0 if pull is None else 0.5 * pull[0] * float(((at[:, 2:] - pull[1]) ** 2).sum())
        return problem.loss(eta) + attraction

    (current, intercept), momentum, best, steps = start, 1.0, np.inf, 0
    eta = problem.predictor(current, intercept)
    ahead, ahead_intercept, ahead_eta = current, intercept, eta
    problem.step *= 1.5
    while steps < max_iter:
        steps += 1
        value = smooth(ahead, ahead_eta)
        gradient, slope = problem.gradient(ahead_eta)
        if pull is not None:
            gradient[:, 2:] += pull[0] * (ahead[:, 2:] - pull[1])
        while True:
            moved = np.empty_like(ahead)
            prox(ahead - problem.step * gradient, problem.step, penalty, problem.squares, moved)
            moved_intercept = ahead_intercept - problem.step * slope
            change, shift = moved - ahead, moved_intercept - ahead_intercept
            size = float(np.vdot(change, change)) + shift**2
            bound = value + float(np.vdot(gradient, change)) + slope * shift + size / (2 * problem.step)
            moved_eta = problem.predictor(moved, moved_intercept)
            reached = smooth(moved, moved_eta)
            if reached <= bound + 1e-12 * abs(bound):
                break
            problem.step /= 2.0
        total = reached + penalty_of(moved, penalty)
        if total > best and momentum > 1.0:  # momentum overshot: continue from the last point without it
            momentum, ahead, ahead_intercept, ahead_eta = 1.0, current, intercept, eta
            continue
        largest = max(float(np.abs(change).max()), abs(shift)) / problem.step
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        share = (momentum - 1.0) / following
        ahead = moved + share * (moved - current)
        ahead_intercept = moved_intercept + share * (moved_intercept - intercept)
        ahead_eta = moved_eta + share * (moved_eta - eta)  # the predictor is linear in the variables
        current, intercept, eta, best, momentum = moved, moved_intercept, moved_eta, total, following
        if largest <= tol:
            break
    return current, intercept, steps


def solve_strong(
    problem: Problem,
    penalty: float,
    start: tuple[Matrix, float],
    *,
    tol: float,
    max_iter: int,
    largest_gap: float = 1e-5,
) -> tuple[Matrix, float, int]:
    """Minimise under strong hierarchy, which also requires a symmetric matrix of pairs.

    The pairs have a symmetric copy; the alternating direction method of multipliers makes both agree, and ends when the
    duality gap is at most `largest_gap` times the objective, so that the excess over the minimum is, too. Other
    parameters and results are those of `solve_weak`, but `tol` is only the tolerance of the first rounds; the returned
    pairs are exactly symmetric and satisfy the bounds exactly.
    """
    (variables, intercept), steps, number = start, 0, 0
    # On one of six test problems, any fixed weight needed up to thirty times as many steps.
    rho = 0.1 * len(problem.y)
    copy = 0.5 * (variables[:, 2:] + variables[:, 2:].T)
    prices = np.zeros_like(copy)
    result = _feasible(variables, copy)
    while steps < max_iter:
        number += 1
        variables, intercept, taken = solve_weak(
            problem,
            penalty,
            (variables, intercept),
            tol=tol,
            max_iter=min(STEPS_PER_ROUND, max_iter - steps),
            pull=(rho, copy - prices / rho),
        )
        steps += taken
        previous, copy = copy, variables[:, 2:] + prices / rho
        copy = 0.5 * (copy + copy.T)
        apart = variables[:, 2:] - copy
        prices += rho * apart
        result = _feasible(variables, copy)
        eta = problem.predictor(result, intercept)
        value = problem.loss(eta) + penalty_of(result, penalty)
        gap = value - problem.lower_bound(eta, prices, penalty)
        # The bound leaves out the quadratic part of the penalty.
        if gap <= largest_gap * value + penalty * QUADRATIC * float((result**2).sum()):
            break
        if taken == 1:  # the round began within its tolerance: only a smaller one leads further
            tol /= 2.0
        error, move = float(np.abs(apart).max()), float(np.abs(copy - previous).max())
        if number % ROUNDS_PER_BALANCE == 0 and max(error, move) > BALANCE * min(error, move):
            rho *= 2.0 if error > move else 0.5
    return result, intercept, steps


def _feasible(variables: Matrix, copy: Matrix) -> Matrix:
    """Return the variables with symmetric pairs close to `copy`, within the bounds."""
    result = variables.copy()
    used = (variables[:, 0] + variables[:, 1]) > 0
    result[:, 2:] = np.where(used[:, None] & used, copy, 0.0)
    # The remaining difference is added to both parts, which does not change the main effect.
    lacking = np.maximum(np.abs(result[:, 2:]).sum(axis=1) - result[:, 0] - result[:, 1], 0.0)
    result[:, :2] += 0.5 * lacking[:, None]
    return result


@njit(cache=True)
def prox(point, step, penalty, squares, out):  # pragma: no cover
    """Fill `out` with the proximal point of step times penalty, row by row.

    With d = 1 + 2 step l2, u = (parts - step l1) / d, v = row / d and m = step l1 / (2 d), twice that for the square,
    the row is sign(v) (|v| - m - a)+ and the parts are (u + a)+, where a >= 0 is the smallest for which the row's sum
    of absolute values is at most the parts' sum. The difference of the sums is piecewise linear and decreases in a.
    """
    p = len(point)
    linear, scale = penalty * (1.0 - QUADRATIC), 1.0 + 2.0 * step * penalty * QUADRATIC
    margins, knots = np.empty(p), np.empty(p + 2)
    for j in range(p):
        plus, minus = (point[j, 0] - step * linear) / scale, (point[j, 1] - step * linear) / scale
        count, excess = 0, -max(plus, 0.0) - max(minus, 0.0)
        for k in range(p):
            margins[k] = abs(point[j, k + 2]) / scale - step * linear / (scale if k == j else 2.0 * scale)
            if k == j and not squares:
                margins[k] = 0.0
            if margins[k] > 0.0:
                knots[count] = margins[k]
                count += 1
                excess += margins[k]
        a = 0.0
        if excess > 0.0:
            for knot in (-plus, -minus):
                if knot > 0.0:
                    knots[count] = knot
                    count += 1
            a = _root(margins, plus, minus, np.sort(knots[:count]), excess)
        out[j, 0], out[j, 1] = max(plus + a, 0.0), max(minus + a, 0.0)
        for k in range(p):
            size = max(margins[k] - a, 0.0)
            out[j, k + 2] = size if point[j, k + 2] > 0.0 else -size


@njit(cache=True)
def _excess(margins, plus, minus, a):  # pragma: no cover
    total = -max(plus + a, 0.0) - max(minus + a, 0.0)
    for margin in margins:
        total += max(margin - a, 0.0)
    return total


@njit(cache=True)
def _root(margins, plus, minus, knots, excess):  # pragma: no cover
    """Return where the excess, positive at 0, vanishes, by bisection over the knots and interpolation between two."""
    low, high = -1, len(knots) - 1
    left, above = 0.0, excess
    right, below = knots[high], _excess(margins, plus, minus, knots[high])
    while high - low > 1:
        middle = (low + high) // 2
        value = _excess(margins, plus, minus, knots[middle])
        if value > 0.0:
            low, left, above = middle, knots[middle], value
        else:
            high, right, below = middle, knots[middle], value
    if below == 0.0:  # exactly at the knot: interpolation could miss it by a rounding error, and leave a term in
        return right
    return left + (right - left) * above / (above - below)
