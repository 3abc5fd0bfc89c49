"""Soft hits and misses as the papers define them: plain loops over pairs of samples, nothing clever."""

import math


def distance(w, a, b):
    return math.fsum(weight * abs(u - v) for weight, u, v in zip(w, a, b, strict=True))


def softmax(distances, sigma):
    """Shares proportional to exp(-distance / sigma)."""
    nearest = min(distances.values())
    e = {j: math.exp(-(d - nearest) / sigma) for j, d in distances.items()}
    return {j: v / math.fsum(e.values()) for j, v in e.items()}


def softmin(distances, sigma):
    nearest = min(distances)
    return nearest - sigma * math.log(math.fsum(math.exp(-(d - nearest) / sigma) for d in distances))


def hits_and_misses(X, y, w, i):
    distances = {j: distance(w, X[i], X[j]) for j in range(len(X)) if j != i}
    hits = {j: d for j, d in distances.items() if y[j] == y[i]}
    return hits, {j: d for j, d in distances.items() if y[j] != y[i]}


def margins(X, y, w, sigma, factors):
    totals = [0.0] * len(w)
    for i in range(len(X)):
        hits, misses = hits_and_misses(X, y, w, i)
        if not hits:
            continue
        for sign, neighbours in ((-1, hits), (1, misses)):
            for j, share in softmax(neighbours, sigma).items():
                for f in range(len(w)):
                    totals[f] += sign * factors[i] * share * abs(X[i][f] - X[j][f])
    return totals


def objective(X, y, w, sigma, factors):
    """Difference of soft minima."""
    total = 0.0
    for i in range(len(X)):
        hits, misses = hits_and_misses(X, y, w, i)
        if hits:
            total += factors[i] * (softmin(hits.values(), sigma) - softmin(misses.values(), sigma))
    return total


def entropy(shares):
    return -math.fsum(a * math.log(a) for a in shares.values() if a > 0)


def cost(X, y, w, sigma, factors):
    """The cost as published: mean distances of hits minus misses, plus sigma times entropy of misses minus hits."""
    total = 0.0
    for i in range(len(X)):
        hits, misses = hits_and_misses(X, y, w, i)
        if hits:
            alpha, beta = softmax(hits, sigma), softmax(misses, sigma)
            total += factors[i] * math.fsum(alpha[j] * d for j, d in hits.items())
            total -= factors[i] * math.fsum(beta[j] * d for j, d in misses.items())
            total += factors[i] * sigma * (entropy(beta) - entropy(alpha))
    return total


def hit_shares(X, y, w, sigma):
    shares = []
    for i in range(len(X)):
        hits, misses = hits_and_misses(X, y, w, i)
        everyone = softmax(hits | misses, sigma)
        shares.append(math.fsum(everyone[j] for j in hits))
    return shares


def expected_distance(X, y, w, sigma, label, x, leave_out=None):
    distances = {j: distance(w, x, X[j]) for j in range(len(X)) if y[j] == label and j != leave_out}
    if not distances:
        return math.inf
    return math.fsum(a * distances[j] for j, a in softmax(distances, sigma).items())


def im4e(X, y, sigma, n_iter, factors, start=None):
    w = start or [1 / len(X[0])] * len(X[0])
    trace = [objective(X, y, w, sigma, factors)]
    for _ in range(n_iter):
        positive = [max(v, 0.0) for v in margins(X, y, w, sigma, factors)]
        w = [v / math.fsum(positive) for v in positive]
        trace.append(objective(X, y, w, sigma, factors))
    return w, trace


def irelief(X, y, sigma, n_iter):
    """Weights after n_iter steps, and the mean margin of the start and of each iterate."""
    n_targets = sum(list(y).count(label) > 1 for label in y)
    w, trace = [1 / len(X[0])] * len(X[0]), []
    for step in range(n_iter + 1):
        nu = [v / n_targets for v in margins(X, y, w, sigma, hit_shares(X, y, w, sigma))]
        trace.append(math.fsum(a * b for a, b in zip(w, nu, strict=True)))
        if step < n_iter:
            positive = [max(v, 0.0) for v in nu]
            w = [v / math.hypot(*positive) for v in positive]
    return w, trace
