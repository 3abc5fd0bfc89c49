"""IMMIGRATE, IM4E, EGT and BIM by their definitions: every pair of samples, every pair of features, nothing clever.

A distance is q(x, x') = d' W d with d = |x - x'|. The targets n are the samples with a hit; their weights multiply
their terms. C* of a matrix W is the sum over targets of softmin over hits minus softmin over misses of q.
"""

import math

import numpy as np

CONES = ("psd", "psd_clip", "nonneg", "dnn", "diag")


# Samples and pairs


def hits(y, n):
    return [j for j in range(len(y)) if y[j] == y[n] and j != n]


def misses(y, n):
    return [j for j in range(len(y)) if y[j] != y[n]]


def targets(y):
    return [n for n in range(len(y)) if hits(y, n)]


def differences(X, Z=None):
    """|x_n - z_j| for all pairs, (n, m, p)."""
    X = np.asarray(X, dtype=float)
    Z = X if Z is None else np.asarray(Z, dtype=float)
    return np.abs(X[:, None, :] - Z[None, :, :])


def quadratic(D, W):
    """q of all pairs."""
    return ((D @ W) * D).sum(axis=2)


def linear(D, w):
    return D @ w


# The two soft assignments


def softmax(values, sigma):
    """exp(-v / sigma) / sum."""
    shifted = [math.exp(-(v - min(values)) / sigma) for v in values]
    return [e / math.fsum(shifted) for e in shifted]


def softmin(values, sigma):
    least = min(values)
    return least - sigma * math.log(math.fsum(math.exp(-(v - least) / sigma) for v in values))


def entropy(probabilities):
    return -math.fsum(a * math.log(a) for a in probabilities if a > 0)


def assignments(q, y, sigma):
    """alpha over hits and beta over misses, (n, n) each; rows of samples without a hit are zero."""
    alpha, beta = np.zeros_like(q), np.zeros_like(q)
    for n in targets(y):
        alpha[n, hits(y, n)] = softmax(q[n, hits(y, n)], sigma)
        beta[n, misses(y, n)] = softmax(q[n, misses(y, n)], sigma)
    return alpha, beta


# The cost


def _weights(y, weights):
    return np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)


def cost(q, y, sigma, alpha, beta, weights=None):
    """C in full, with its entropies."""
    weights = _weights(y, weights)
    terms = []
    for n in targets(y):
        margin = math.fsum(alpha[n, j] * q[n, j] for j in hits(y, n))
        margin -= math.fsum(beta[n, j] * q[n, j] for j in misses(y, n))
        terms.append(weights[n] * (margin + sigma * (entropy(beta[n]) - entropy(alpha[n]))))
    return math.fsum(terms)


def cost_star(q, y, sigma, weights=None):
    """C at its stationary alpha and beta."""
    weights = _weights(y, weights)
    return math.fsum(
        weights[n] * (softmin(q[n, hits(y, n)], sigma) - softmin(q[n, misses(y, n)], sigma)) for n in targets(y)
    )


def scatter(D, y, alpha, beta, weights=None):
    """Sigma: expected d d' over hits minus that over misses, summed over targets."""
    weights = _weights(y, weights)
    total = np.zeros((D.shape[2], D.shape[2]))
    for n in targets(y):
        for sign, probability, others in ((1.0, alpha, hits(y, n)), (-1.0, beta, misses(y, n))):
            total += sign * weights[n] * (D[n, others].T * probability[n, others]) @ D[n, others]
    return (total + total.T) / 2


def slope(D, y, sigma, W, weights=None):
    """Sigma at W."""
    return scatter(D, y, *assignments(quadratic(D, W), y, sigma), weights)


def value(D, y, sigma, W, weights=None):
    """C* at W."""
    return cost_star(quadratic(D, W), y, sigma, weights)


# Cones


def project_psd(G):
    eigenvalues, vectors = np.linalg.eigh((G + G.T) / 2)
    return (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T


def project_dnn(G, tolerance=1e-13, rounds=20_000):
    """Dykstra: project in turn on both cones, each time after taking back that cone's last correction."""
    V = (G + G.T) / 2
    scale = max(np.abs(V).max(), 1e-300)
    first, second = np.zeros_like(V), np.zeros_like(V)
    for _ in range(rounds):
        before = V
        positive = project_psd(V + first)
        first = V + first - positive
        V = np.maximum(positive + second, 0.0)
        second = positive + second - V
        if np.abs(V - before).max() < tolerance * scale:
            break
    return V


def cone_projection(G, cone):
    """The point of the cone nearest to G (psd_clip: what the authors' program takes for it)."""
    G = (G + G.T) / 2
    if cone == "psd":
        return project_psd(G)
    if cone == "psd_clip":
        return np.maximum(project_psd(G), 0.0)
    if cone == "nonneg":
        return np.maximum(G, 0.0)
    if cone == "dnn":
        return project_dnn(G)
    return np.diag(np.maximum(np.diag(G), 0.0))


def best_direction(G, cone):
    """W in the cone with norm 1 and largest <G, W>, and whether G is in the polar cone: then an extreme ray."""
    V = cone_projection(G, cone)
    if np.linalg.norm(V) > 1e-12 * max(np.linalg.norm(G), 1e-300):
        return V / np.linalg.norm(V), False
    return extreme_ray(G, cone), True


def extreme_ray(G, cone):
    G = (G + G.T) / 2
    ray = np.zeros_like(G)
    if cone == "psd":
        vector = np.linalg.eigh(G)[1][:, -1]
        return np.outer(vector, vector)
    if cone == "nonneg":
        # The entry (a, b) and its mirror: <G, ray> is G_aa on the diagonal, sqrt(2) G_ab off it.
        scores = np.triu(np.where(np.eye(len(G), dtype=bool), G, math.sqrt(2) * G))
        scores[np.tril_indices(len(G), -1)] = -np.inf
        a, b = np.unravel_index(scores.argmax(), scores.shape)
        ray[a, b] = ray[b, a] = 1.0
        return ray / np.linalg.norm(ray)
    a = np.diag(G).argmax()
    ray[a, a] = 1.0
    return ray


# Fits


def identity(p):
    return np.eye(p) / math.sqrt(p)


def prune_threshold(prune, p):
    return 1.0 / p if prune is True else float(prune)


def pruned(W, threshold):
    W = np.where(threshold <= W, W, 0.0)
    return W / np.linalg.norm(W)


def published_step(D, y, sigma, W, cone, weights=None):
    """One iteration: W of the next iterate, and whether no direction of the cone has a margin."""
    return best_direction(-slope(D, y, sigma, W, weights), cone)


def fit_published(
    X, y, sigma, cone="psd", weights=None, W0=None, prune=False, tol=1e-4, max_iter=10, stopping="objective",
    renormalise=True,
):  # fmt: skip
    """The papers' loop. Stopping "package" is the authors' program's: trace(Sigma) changes by at most 0.01.

    Returns W, the C* of every iterate, the number of iterations, whether the loop stopped by itself, and whether a
    polar case made it end with the identity.
    """
    D, p = differences(X), np.shape(X)[1]
    W = identity(p) if W0 is None else np.asarray(W0, dtype=float)
    trace, package_cost = [value(D, y, sigma, W, weights)], 1.0
    for iteration in range(1, max_iter + 1):
        total = slope(D, y, sigma, W, weights)
        W, polar = best_direction(-total, cone)
        if polar:
            return identity(p), trace, iteration, True, True
        if prune is not False:
            W = np.where(prune_threshold(prune, p) <= W, W, 0.0)
            if renormalise:
                W = W / np.linalg.norm(W)
        trace.append(value(D, y, sigma, W, weights))
        if stopping == "package":
            before, package_cost = package_cost, np.trace(total)
            stop = abs(package_cost - before) <= 0.01
        else:
            stop = abs(trace[-1] - trace[-2]) <= tol * max(1.0, abs(trace[-1]))
        if stop:
            return W, trace, iteration, True, False
    return W, trace, max_iter, False, False


def fit_monotone(X, y, sigma, cone="psd", weights=None, W0=None, prune=False, tol=1e-6, max_iter=50):
    """Frank-Wolfe on C* with step halving; returns as `fit_published` does, and the gap at the last iterate."""
    D, p = differences(X), np.shape(X)[1]
    W = identity(p) if W0 is None else np.asarray(W0, dtype=float)
    trace, iteration, converged = [value(D, y, sigma, W, weights)], 0, False
    while True:
        total = slope(D, y, sigma, W, weights)
        V, polar = best_direction(-total, cone)
        if polar:
            return identity(p), trace, iteration, True, True, 0.0
        gap = -(total * (V - W)).sum()
        converged = gap <= tol * max(1.0, abs(trace[-1]))
        if converged or iteration == max_iter:
            break
        step = 1.0
        while True:
            trial = W + step * (V - W)
            reached = value(D, y, sigma, trial, weights)
            if reached <= trace[-1] - 1e-4 * step * gap:
                break
            step /= 2
            if step < 2.0**-40:
                break
        if step < 2.0**-40:
            break
        W, iteration = trial, iteration + 1
        trace.append(reached)
    W = W / np.linalg.norm(W)
    if prune is not False:
        W = pruned(W, prune_threshold(prune, p))
    return W, trace, iteration, bool(converged), False, gap


def fit(X, y, sigma, solver, **parameters):
    """W alone."""
    return (fit_monotone if solver == "monotone" else fit_published)(X, y, sigma, **parameters)[0]


# Prediction


def expected_distances(W, X, y, sigma, Z=None):
    """E_c of each row of Z; of each training row without itself if Z is None. Infinite where a class is empty."""
    D = differences(X) if Z is None else differences(Z, X)
    q = linear(D, W) if np.ndim(W) == 1 else quadratic(D, W)
    classes = sorted(set(y))
    expected = np.full((len(q), len(classes)), np.inf)
    for i in range(len(q)):
        for k, c in enumerate(classes):
            members = [j for j in range(len(y)) if y[j] == c and not (Z is None and j == i)]
            if members:
                probabilities = softmax(q[i, members], sigma)
                expected[i, k] = math.fsum(a * v for a, v in zip(probabilities, q[i, members], strict=True))
    return expected


def predict(W, X, y, sigma, Z=None):
    return np.asarray(sorted(set(y)))[expected_distances(W, X, y, sigma, Z).argmin(axis=1)]


# IM4E, and IMMIGRATE on the features that it keeps


def fit_im4e(X, y, sigma, weights=None, tol=1e-4, max_iter=10):
    """Weights with sum 1 and the number of iterations."""
    D, p = differences(X), np.shape(X)[1]
    sample_weights = _weights(y, weights)
    w = np.full(p, 1.0 / p)
    before = cost_star(linear(D, w), y, sigma, weights)
    for iteration in range(1, max_iter + 1):
        alpha, beta = assignments(linear(D, w), y, sigma)
        v = np.zeros(p)
        for n in targets(y):
            for j in range(len(y)):
                v += sample_weights[n] * (beta[n, j] - alpha[n, j]) * D[n, j]
        v = np.maximum(v, 0.0)
        if not v.any():
            return np.full(p, 1.0 / p), iteration
        w = v / v.sum()
        after = cost_star(linear(D, w), y, sigma, weights)
        if abs(after - before) <= tol * max(1.0, abs(after)):
            return w, iteration
        before = after
    return w, max_iter


def screen(w, threshold=2.0, max_features=200):
    """Features whose weight is more than `threshold` times the mean; the two heaviest if there are none."""
    p = len(w)
    heaviest = sorted(range(p), key=lambda a: (-w[a], a))
    kept = [a for a in heaviest if w[a] > threshold / p][:max_features]
    return sorted(kept or heaviest[:2])


def fit_egt(X, y, sigma, threshold=2.0, max_features=200, solver="monotone", weights=None, **parameters):
    """The features kept and W among them."""
    w, _ = fit_im4e(X, y, sigma, weights)
    kept = screen(w, threshold, max_features)
    W0 = np.diag(w[kept]) / np.linalg.norm(w[kept])
    return kept, fit(np.asarray(X)[:, kept], y, sigma, solver, weights=weights, W0=W0, **parameters)


# Boosting


def schedule(n_estimators, sigma_max=4.0, sigma_min=0.2, inclusive=False):
    last = n_estimators - 1 if inclusive else n_estimators
    return [sigma_max * (sigma_min / sigma_max) ** (t / max(last, 1)) for t in range(n_estimators)]


def fit_boosted(
    X, y, n_estimators, sigma_max=4.0, sigma_min=0.2, inclusive=False, boost_update="published", perfect="discard",
    solver="published", max_iter=5, **parameters,
):  # fmt: skip
    """Lists of the learners kept: matrices, alphas, errors, sigmas; and the sample weights after the last one."""
    y, n, K = np.asarray(y), len(y), len(set(y))
    sample_weights = np.full(n, 1.0 / n)
    kept = {"matrices": [], "alphas": [], "errors": [], "sigmas": []}
    for sigma in schedule(n_estimators, sigma_max, sigma_min, inclusive):
        W = fit(X, y, sigma, solver, weights=sample_weights, max_iter=max_iter, **parameters)
        wrong = predict(W, X, y, sigma) != y
        error = math.fsum(sample_weights[wrong])
        is_perfect = not wrong.any()
        # The learner just used has the error of chance after adaboost's update: not less by a rounding error.
        if error >= 1 - 1 / K - 1e-12 or (is_perfect and perfect == "discard"):
            continue
        if is_perfect:
            error = 1 / (2 * n)
        a = 0.5 * (math.log((1 - error) / error) + math.log(K - 1))
        for name, item in zip(kept, (W, a, error, sigma), strict=True):
            kept[name].append(item)
        if is_perfect:
            break
        strength = 2 * a if boost_update == "adaboost" else a
        sample_weights = sample_weights * np.where(wrong, math.exp(strength), 1.0)
        sample_weights /= sample_weights.sum()
    return kept, sample_weights


def vote(kept, X, y, Z):
    """The class with the largest sum of alphas; ties to the lower one."""
    classes = np.asarray(sorted(set(y)))
    scores = np.zeros((len(Z), len(classes)))
    for W, a, sigma in zip(kept["matrices"], kept["alphas"], kept["sigmas"], strict=True):
        scores += a * (predict(W, X, y, sigma, Z)[:, None] == classes)
    return classes[scores.argmax(axis=1)], scores
