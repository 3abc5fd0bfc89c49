"""LFE, Simba, MulRelief and NCA-D as the papers define them: in plain loops over pairs of samples."""

import math

import numpy as np


def squared_distance(a, b, w=None):
    w = [1.0] * len(a) if w is None else w
    return math.fsum(w[f] * (a[f] - b[f]) ** 2 for f in range(len(a)))


def nearest(distances, indices, k=1):
    """The k nearest; those equally far up to rounding errors by index."""
    largest = max(distances) or 1.0
    return sorted(indices, key=lambda j: (round(distances[j] / largest, 11), j))[:k]


def targets(y):
    return [i for i in range(len(y)) if list(y).count(y[i]) > 1]


def hit_and_miss(X, y, i, w=None):
    distances = [squared_distance(X[i], X[j], w) for j in range(len(X))]
    hit = nearest(distances, [j for j in range(len(X)) if y[j] == y[i] and j != i])[0]
    return hit, nearest(distances, [j for j in range(len(X)) if y[j] != y[i]])[0]


def knn(X, y, query, k, w=None, without=None):
    """Class by the rules of the vote, and the fractions of the votes."""
    distances = [squared_distance(query, x, w) for x in X]
    neighbours = nearest(distances, [j for j in range(len(X)) if j != without], k)
    classes = sorted(set(y))
    votes = {c: sum(y[j] == c for j in neighbours) for c in classes}
    far = {c: round(math.fsum(distances[j] for j in neighbours if y[j] == c), 9) for c in classes}
    winner = min(classes, key=lambda c: (-votes[c], far[c], classes.index(c)))
    return winner, [votes[c] / len(neighbours) for c in classes]


def leave_one_out_error(X, y, k, w=None):
    return sum(knn(X, y, X[i], k, w, without=i)[0] != y[i] for i in range(len(X))) / len(X)


def squared_difference_sum(A, B, C):
    total = np.zeros(len(A[0]))
    for i in range(len(A)):
        for j in range(len(B)):
            for f in range(len(total)):
                total[f] += C[i][j] * (A[i][f] - B[j][f]) ** 2
    return total


def lfe_scatter(X, y):
    """Sum of outer products of differences to misses, minus those to hits."""
    p = len(X[0])
    scatter = np.zeros((p, p))
    for i in targets(y):
        hit, miss = hit_and_miss(X, y, i)
        for a in range(p):
            for b in range(p):
                scatter[a, b] += (X[i][a] - X[miss][a]) * (X[i][b] - X[miss][b])
                scatter[a, b] -= (X[i][a] - X[hit][a]) * (X[i][b] - X[hit][b])
    return scatter


def lfe(X, y, rank=None):
    values, vectors = np.linalg.eigh(lfe_scatter(X, y))
    W = np.zeros((len(values), len(values)))
    for value, v in sorted(zip(values, vectors.T, strict=True), key=lambda pair: -pair[0])[:rank]:
        W += max(value, 0.0) * np.outer(v, v)
    return W / math.sqrt((W**2).sum())


def simba_term(X, y, i, w, utility="linear", beta=1.0):
    """Utility of the margin of one sample, and its gradient."""
    squares = [v * v for v in w]
    hit, miss = hit_and_miss(X, y, i, squares)
    to_hit, to_miss = (math.sqrt(squared_distance(X[i], X[j], squares)) for j in (hit, miss))
    margin = 0.5 * (to_miss - to_hit)
    s = 1.0 / (1.0 + math.exp(-beta * margin))
    value, slope = (margin, 1.0) if utility == "linear" else (s, beta * s * (1.0 - s))
    gradient = []
    for f in range(len(w)):
        g = 0.0
        if to_miss > 0:
            g += (X[i][f] - X[miss][f]) ** 2 / to_miss
        if to_hit > 0:
            g -= (X[i][f] - X[hit][f]) ** 2 / to_hit
        gradient.append(slope * 0.5 * g * w[f])
    return value, gradient


def simba_objective(X, y, w, utility="linear", beta=1.0):
    """Mean utility and its gradient."""
    terms = [simba_term(X, y, i, w, utility, beta) for i in targets(y)]
    mean = [math.fsum(g[f] for _, g in terms) / len(terms) for f in range(len(w))]
    return math.fsum(value for value, _ in terms) / len(terms), mean


def simba_online(X, y, draws, w, utility="linear", beta=1.0):
    for i in draws:
        _, gradient = simba_term(X, y, i, w, utility, beta)
        w = [a + b for a, b in zip(w, gradient, strict=True)]
    return [v * v / max(u * u for u in w) for v in w]


def mean_margin(X, y, w):
    """Mean over samples of squared differences to the nearest miss minus to the nearest hit, feature by feature."""
    total = [0.0] * len(X[0])
    for i in targets(y):
        hit, miss = hit_and_miss(X, y, i, w)
        for f in range(len(total)):
            total[f] += (X[i][f] - X[miss][f]) ** 2 - (X[i][f] - X[hit][f]) ** 2
    return [t / len(targets(y)) for t in total]


def mulrelief(X, y, loops):
    """Weights after each loop."""
    w = [1.0 / len(X[0])] * len(X[0])
    iterates = []
    for _ in range(loops):
        raw = [max(r, 0.0) for r in mean_margin(X, y, w)]
        if not sum(raw):
            break
        w = [r / math.fsum(raw) for r in raw]
        iterates.append(w)
    return iterates


def softmax(values):
    top = max(values)
    powers = [math.exp(v - top) for v in values]
    return [v / math.fsum(powers) for v in powers]


def soft_margin(X, y, w, sigma):
    """Mean expected distance to a miss minus that to a hit, neighbours drawn with weight exp(-distance / sigma)."""
    total = 0.0
    for i in targets(y):
        for sign, among in ((1, [j for j in range(len(X)) if y[j] != y[i]]),
                            (-1, [j for j in range(len(X)) if y[j] == y[i] and j != i])):  # fmt: skip
            d = [squared_distance(X[i], X[j], w) for j in among]
            probability = softmax([-v / sigma for v in d])
            total += sign * math.fsum(a * b for a, b in zip(probability, d, strict=True))
    return total / len(targets(y))


def nca(X, y, v):
    """Mean probability of drawing a neighbour of the right class."""
    total = 0.0
    for i in targets(y):
        among = [j for j in range(len(X)) if j != i]
        probability = softmax([-squared_distance(X[i], X[j], [a * a for a in v]) for j in among])
        total += math.fsum(q for q, j in zip(probability, among, strict=True) if y[j] == y[i])
    return total / len(targets(y))


def finite_differences(function, w, step=1e-5):
    gradient = []
    for f in range(len(w)):
        up, down = list(w), list(w)
        up[f] += step
        down[f] -= step
        gradient.append((function(up) - function(down)) / (2 * step))
    return gradient
