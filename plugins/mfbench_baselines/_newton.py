"""Compiled Newton steps of logistic regression for any number of classes, and bounds on what further steps can gain.

Designs have one row for each term. Coefficients, predictors and shares have one row for each class but the first.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit

# Keeps coefficients finite if classes are separated or columns collinear, and hardly changes other fits.
RIDGE = 1e-8
# A step with the last factor of the information replaces Newton's if it promises at most this share of its gain.
LAGGED = 0.01
# Without a Newton step to follow, a small gain has to be this much below the tolerance.
SAFETY = 1e-3
# The largest matrix that is factorised here; a larger one is worth the call of LAPACK.
SMALL = 32
# The most numbers that `pair_products` may have in `climb`: more do not fit in a processor's cache.
PRODUCTS = 1_000_000
# Steps of `descend`, each of which has to promise at most this share of the gain of the step before.
CHORDS, CONTRACTION = 8, 0.1


@njit(cache=True)
def log_likelihood(eta, codes, shares):  # pragma: no cover
    """Return the log-likelihood of a predictor, and write the shares of the classes."""
    free, n = eta.shape
    total, product = 0.0, 1.0
    if free == 1:
        for i in range(n):
            at = eta[0, i]
            small = np.exp(-abs(at))
            shares[0, i] = (1.0 if at > 0.0 else small) / (1.0 + small)
            if (at > 0.0) != (codes[i] == 1):
                total -= abs(at)
            product *= 1.0 + small  # at most 2: one logarithm of 64 factors instead of 64
            if i % 64 == 63:
                total, product = total - np.log(product), 1.0
        return total - np.log(product)
    for i in range(n):
        top = 0.0
        for a in range(free):
            top = max(top, eta[a, i])
        mass = np.exp(-top)
        for a in range(free):
            shares[a, i] = np.exp(eta[a, i] - top)
            mass += shares[a, i]
        for a in range(free):
            shares[a, i] /= mass
        total += (eta[codes[i] - 1, i] if codes[i] > 0 else 0.0) - top
        product *= mass  # at most the number of classes
        if i % 16 == 15:
            total, product = total - np.log(product), 1.0
    return total - np.log(product)


@njit(cache=True)
def score(design, codes, shares, coefficients):  # pragma: no cover
    """Return the gradient of the likelihood less half the ridge's penalty, class by class."""
    residual = -shares
    for i in range(len(codes)):
        if codes[i] > 0:
            residual[codes[i] - 1, i] += 1.0
    return np.dot(residual, design.T) - RIDGE * coefficients


@njit(cache=True)
def pair_products(design):  # pragma: no cover
    """Return the products of each pair of rows, the lower triangle row by row."""
    width, n = design.shape
    products = np.empty((width * (width + 1) // 2, n))
    at = 0
    for j in range(width):
        for k in range(j + 1):
            for i in range(n):
                products[at, i] = design[j, i] * design[k, i]
            at += 1
    return products


@njit(cache=True)
def information(design, shares, products):  # pragma: no cover
    """Return minus the derivative of `score`, a square matrix with a block of rows for each class.

    With several classes and the result of `pair_products`, one product of matrices gives all blocks; else it is empty.
    """
    width, n = design.shape
    free = len(shares)
    result = np.empty((free * width, free * width))
    pairs = free * (free + 1) // 2
    weights, at = np.empty((pairs, n)), 0
    for a in range(free):
        for b in range(a, free):
            for i in range(n):
                weights[at, i] = shares[a, i] * ((1.0 if a == b else 0.0) - shares[b, i])
            at += 1
    sums = np.dot(weights, products.T) if len(products) > 0 else np.empty((0, 0))
    weighted, block, at = np.empty_like(design), np.empty((width, width)), 0
    for a in range(free):
        for b in range(a, free):
            if len(products) > 0:
                entry = 0
                for j in range(width):
                    for k in range(j + 1):
                        block[j, k] = block[k, j] = sums[at, entry]
                        entry += 1
            else:
                for j in range(width):
                    for i in range(n):
                        weighted[j, i] = design[j, i] * weights[at, i]
                block = np.dot(weighted, design.T)
            result[a * width : (a + 1) * width, b * width : (b + 1) * width] = block
            result[b * width : (b + 1) * width, a * width : (a + 1) * width] = block.T
            at += 1
    for j in range(free * width):
        result[j, j] += RIDGE
    return result


@njit(cache=True)
def factorise(matrix):  # pragma: no cover
    """Replace a symmetric matrix by its lower Cholesky factor; return whether there is one."""
    size = len(matrix)
    if size > SMALL:
        try:
            matrix[:] = np.linalg.cholesky(matrix)
        except Exception:  # noqa: BLE001 - compiled code can catch nothing narrower; the matrix has no factor
            return False
        return True
    for j in range(size):
        for i in range(j, size):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = total / matrix[j, j]
            elif total > 0.0:
                matrix[j, j] = np.sqrt(total)
            else:
                return False
    return True


@njit(cache=True)
def solve_factorised(factor, right):  # pragma: no cover
    """Return the solution for a Cholesky factor."""
    size = len(right)
    result = right.copy()
    for i in range(size):
        for k in range(i):
            result[i] -= factor[i, k] * result[k]
        result[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        result[i] /= factor[i, i]
        for k in range(i):
            result[k] -= factor[i, k] * result[i]
    return result


@njit(cache=True)
def lowest_deviance(shares, base, change, penalty):  # pragma: no cover
    """Return a deviance that no coefficients are below, or 0 if the step is too long for the bound.

    By duality, the deviance plus the ridge's penalty is nowhere below twice the entropy of any shares whose score
    equals the ridge times coefficients, less the ridge times the square of these. Such are the shares at one point
    plus the change that a solution of the information's equations, at this or another point, predicts.

    Parameters
    ----------
    shares : ndarray of shape (n_classes - 1, n_samples)
        Shares at the point of the score.
    base : ndarray of shape (n_classes - 1, n_samples)
        Shares at the point of the information.
    change : ndarray of shape (n_classes - 1, n_samples)
        Change of the predictor by the step.
    penalty : float
        The ridge times the square of the coefficients after the step.
    """
    free, n = shares.shape
    entropy = 0.0
    for i in range(n):
        mean, rest = 0.0, 1.0
        for a in range(free):
            mean += base[a, i] * change[a, i]
        for a in range(free):
            share = shares[a, i] + base[a, i] * (change[a, i] - mean)
            if share < 0.0:
                return 0.0
            rest -= share
            if share > 0.0:
                entropy -= share * np.log(share)
        if rest < 0.0:
            return 0.0
        if rest > 0.0:
            entropy -= rest * np.log(rest)
    # The deviance at the maximum lacks the ridge's penalty there, which is about that after the step.
    return max(0.0, 2.0 * entropy - 4.0 * penalty)


@njit(cache=True)
def climb(design, codes, start, max_iter, tol, limit):  # pragma: no cover
    """Maximise the likelihood by Newton's method with step halving.

    Parameters
    ----------
    design : ndarray of shape (n_columns, n_samples)
        Rows of about unit size.
    codes : ndarray of shape (n_samples,)
        Class of each sample.
    start : ndarray of shape (n_classes - 1, n_columns)
        Coefficients to start from.
    max_iter, tol : int, float
        As in `maximise`.
    limit : float
        Stop as soon as the lowest deviance is certain to be larger.

    Returns
    -------
    coefficients : ndarray of shape (n_classes - 1, n_columns)
        The maximum.
    deviance : float
        Minus twice the log-likelihood; infinite if the limit stopped the search.
    converged : bool
        Whether `tol` was met.
    """
    coefficients, free = start.copy(), len(start)
    eta = np.dot(coefficients, design)
    shares, moved_shares = np.empty_like(eta), np.empty_like(eta)
    deviance = -2.0 * log_likelihood(eta, codes, shares)
    current = deviance + RIDGE * np.sum(coefficients**2)
    lagged, before, factor = False, np.inf, np.empty((0, 0))
    width, n = design.shape
    few = free > 1 and width * (width + 1) * n <= 2 * PRODUCTS
    products = pair_products(design) if few else np.empty((0, n))
    for _ in range(max_iter):
        gradient = score(design, codes, shares, coefficients).reshape(-1)
        chord = False
        if lagged:
            step = solve_factorised(factor, gradient)
            promise = np.sum(gradient * step)
            if promise < SAFETY * tol:
                return coefficients, deviance, True
            chord = promise <= LAGGED * before
        if not chord:
            matrix = information(design, shares, products)
            factor = matrix.copy()
            lagged = factorise(factor)
            step = solve_factorised(factor, gradient) if lagged else np.linalg.solve(matrix, gradient)
            promise = np.sum(gradient * step)
        if (promise < tol and not chord) or current < tol:
            return coefficients, deviance, True
        move = np.ascontiguousarray(step).reshape(free, -1)
        change = np.dot(move, design)
        if not chord and current - 2.0 * promise > limit:
            penalty = RIDGE * np.sum((coefficients + move) ** 2)
            if lowest_deviance(shares, shares, change, penalty) > limit:
                return coefficients, np.inf, False
        length = 1.0
        while True:
            moved = coefficients + length * move
            moved_deviance = -2.0 * log_likelihood(eta + length * change, codes, moved_shares)
            value = moved_deviance + RIDGE * np.sum(moved**2)
            if value < current or length <= 1e-10:
                break
            length /= 2.0
        if not value < current:  # no gain beyond rounding
            return coefficients, deviance, True
        eta += length * change
        coefficients, deviance, current = moved, moved_deviance, value
        shares, moved_shares = moved_shares, shares
        lagged, before = lagged and length == 1.0, promise
    return coefficients, deviance, False


@njit(cache=True)
def descend(term, design, codes, coefficients, inverse, eta, base, limit, tol):  # pragma: no cover
    """Approach the maximum without one term, from the maximum with it, by the information there.

    Parameters
    ----------
    term : int
        Row of the design that is left out.
    design, codes, limit, tol
        As in `climb`.
    coefficients : ndarray of shape (n_classes - 1, n_columns)
        The maximum with the term.
    inverse : ndarray
        Inverse of the information there.
    eta, base : ndarray of shape (n_classes - 1, n_samples)
        Predictor and shares there.

    Returns
    -------
    coefficients : ndarray of shape (n_classes - 1, n_columns)
        Coefficients; those of the term are 0.
    deviance : float
        Their deviance; infinite if the limit stopped the search.
    converged : bool
        Whether this is the maximum.
    """
    free, width = coefficients.shape
    rows = np.arange(free) * width + term
    picked, corner = np.empty((free, free * width)), np.empty((free, free))
    for a in range(free):
        picked[a] = inverse[rows[a]]
        corner[a] = picked[a][rows]
    at, eta, shares = coefficients.copy(), eta.copy(), base.copy()
    at[:, term] = 0.0
    if not factorise(corner):
        return at, 0.0, False
    # What the term's coefficients still have to change; afterwards they stay.
    lacking, deviance, before = -coefficients[:, term].copy(), 0.0, np.inf
    at = coefficients.copy()
    for number in range(CHORDS):
        gradient = score(design, codes, shares, at)
        gradient[:, term] = 0.0
        flat = gradient.reshape(-1)
        step = np.dot(inverse, flat)
        step += np.dot(solve_factorised(corner, lacking - step[rows]), picked)
        promise = np.sum(flat * step)
        if number > 0 and promise < 0.0:  # the inverse consists of rounding errors
            return at, deviance, False
        if number > 0 and (promise < SAFETY * tol or promise > CONTRACTION * before):
            return at, deviance, promise < SAFETY * tol
        before = promise if number > 0 else np.inf
        move = step.reshape(free, width)
        change = np.dot(move, design)
        at += move
        at[:, term] = 0.0
        lacking[:] = 0.0
        if lowest_deviance(shares, base, change, RIDGE * np.sum(at**2)) > limit:
            return at, np.inf, True
        eta += change
        deviance = -2.0 * log_likelihood(eta, codes, shares)
    return at, deviance, False
