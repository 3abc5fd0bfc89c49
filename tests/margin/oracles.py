"""Relief and ReliefF as the papers define them: in plain loops over pairs of samples."""

import math


def is_unknown(value):
    return math.isnan(value)


def known_values(X, y, feature, label):
    """Known values of a feature in a class; in all classes if there are none."""
    values = [row[feature] for row, c in zip(X, y, strict=True) if c == label and not is_unknown(row[feature])]
    return values or [row[feature] for row in X if not is_unknown(row[feature])]


def feature_range(X, feature):
    values = [row[feature] for row in X if not is_unknown(row[feature])]
    return max(values) - min(values) if values else 0.0


def candidates(X, y, i, feature):
    """The values that x_i may have: its own, or those known in its class."""
    return known_values(X, y, feature, y[i]) if is_unknown(X[i][feature]) else [X[i][feature]]


def diff(X, y, nominal, widths, feature, i, j):
    """Mean difference over the values that both samples may have."""
    first, second = candidates(X, y, i, feature), candidates(X, y, j, feature)
    if not first or not second:
        return 0.0
    if nominal[feature]:
        differences = [float(a != b) for a in first for b in second]
    else:
        differences = [abs(a - b) / widths[feature] for a in first for b in second]
    return math.fsum(differences) / len(differences)


def nearest(distances, indices, k):
    """The k nearest; those equally far up to rounding errors by index."""
    return sorted(indices, key=lambda j: (round(distances[j], 10), j))[:k]


def relieff(X, y, k, nominal=None, samples=None):
    X, y = [[float(v) for v in row] for row in X], list(y)
    n, p = len(X), len(X[0])
    nominal = [False] * p if nominal is None else nominal
    widths = [feature_range(X, f) or 1.0 for f in range(p)]
    prior = {c: y.count(c) / n for c in set(y)}
    weights, used = [0.0] * p, 0
    for i in range(n) if samples is None else samples:
        if y.count(y[i]) == 1:
            continue
        used += 1
        diffs = [[diff(X, y, nominal, widths, f, i, j) for f in range(p)] for j in range(n)]
        distances = [math.fsum(diffs[j]) for j in range(n)]
        for c in prior:
            neighbours = nearest(distances, [j for j in range(n) if y[j] == c and j != i], k)
            factor = -1.0 if c == y[i] else prior[c] / (1 - prior[y[i]])
            for f in range(p):
                weights[f] += factor * math.fsum(diffs[j][f] for j in neighbours) / len(neighbours)
    return [w / used for w in weights]


def relief(X, y, diff="abs", scale="range", metric="euclidean", miss="pooled", samples=None):
    X, y = [[float(v) for v in row] for row in X], list(y)
    n, p = len(X), len(X[0])
    widths = [(feature_range(X, f) or 1.0) if scale == "range" else 1.0 for f in range(p)]
    prior = {c: y.count(c) / n for c in set(y)}

    def differences(i, j):
        return [abs(X[i][f] - X[j][f]) / widths[f] for f in range(p)]

    def distance(i, j):
        return math.fsum(d if metric == "manhattan" else d * d for d in differences(i, j))

    weights, used = [0.0] * p, 0
    for i in range(n) if samples is None else samples:
        hits = [j for j in range(n) if y[j] == y[i] and j != i]
        if not hits:
            continue
        used += 1
        distances = [distance(i, j) for j in range(n)]
        terms = [(-1.0, nearest(distances, hits, 1)[0])]
        if miss == "pooled":
            terms.append((1.0, nearest(distances, [j for j in range(n) if y[j] != y[i]], 1)[0]))
        else:
            for c in set(prior) - {y[i]}:
                misses = [j for j in range(n) if y[j] == c]
                terms.append((prior[c] / (1 - prior[y[i]]), nearest(distances, misses, 1)[0]))
        for factor, j in terms:
            for f, d in enumerate(differences(i, j)):
                weights[f] += factor * (d * d if diff == "sq" else d)
    return [w / used for w in weights]
