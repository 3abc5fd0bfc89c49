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


def known_diff(X, nominal, widths, feature, i, j):
    """The difference of two known values; None if one is unknown."""
    a, b = X[i][feature], X[j][feature]
    if is_unknown(a) or is_unknown(b):
        return None
    return float(a != b) if nominal[feature] else abs(a - b) / widths[feature]


def mean_known(values):
    """The mean of those that are not None; None if all are."""
    values = [value for value in values if value is not None]
    return math.fsum(values) / len(values) if values else None


def margin_of_side(y, i, values, prior, miss):
    """Minus the mean of the values of hits, plus that of misses; values maps the rows of one side to values."""
    hits = [value for j, value in values.items() if y[j] == y[i]]
    misses = {c: [value for j, value in values.items() if y[j] == c] for c in prior if c != y[i]}
    misses = {c: those for c, those in misses.items() if those}
    margin = -math.fsum(hits) / len(hits) if hits else 0.0
    if misses and miss == "observed":
        m = sum(map(len, misses.values()))
        margin += sum((len(prior) - 1) * len(those) / m * math.fsum(those) / m for those in misses.values())
    elif misses:
        total = sum(prior[c] for c in misses)
        margin += sum(prior[c] / total * math.fsum(those) / len(those) for c, those in misses.items())
    return margin


def radius(X, y, own, far, miss="observed", nominal=None):
    """SURF and its relatives: thresholds of each row (own) or of all rows; far rows by differences or similarities."""
    X, y = [[float(v) for v in row] for row in X], list(y)
    n, p = len(X), len(X[0])
    nominal = [False] * p if nominal is None else nominal
    widths = [feature_range(X, f) or 1.0 for f in range(p)]
    prior = {c: y.count(c) / n for c in set(y)}
    diffs = [[[known_diff(X, nominal, widths, f, i, j) for f in range(p)] for j in range(n)] for i in range(n)]
    distances = [[mean_known(diffs[i][j]) if i != j else 0.0 for j in range(n)] for i in range(n)]
    everything = mean_known([d for row in distances for d in row])
    weights, used = [0.0] * p, 0
    for i in range(n):
        if y.count(y[i]) == 1:
            continue
        used += 1
        others = {j: distances[i][j] for j in range(n) if j != i and distances[i][j] is not None}
        low = high = everything
        if own and others:
            mean = math.fsum(others.values()) / len(others)
            half = math.sqrt(math.fsum((d - mean) ** 2 for d in others.values()) / len(others)) / 2
            low, high = mean - half, mean + half
        near_rows = [j for j, d in others.items() if d < low - 1e-12]
        far_rows = [j for j, d in others.items() if d > high + 1e-12 and far != "ignored"]
        for f in range(p):
            if len({row[f] for row in X if not is_unknown(row[f])}) < 2:
                continue
            near = {j: diffs[i][j][f] for j in near_rows if diffs[i][j][f] is not None}
            beyond = {j: diffs[i][j][f] for j in far_rows if diffs[i][j][f] is not None}
            weights[f] += margin_of_side(y, i, near, prior, miss)
            if far == "differences":
                weights[f] -= margin_of_side(y, i, beyond, prior, miss)
            elif far == "similarities":
                weights[f] += margin_of_side(y, i, {j: 1 - d for j, d in beyond.items()}, prior, miss)
    return [w / used for w in weights]
