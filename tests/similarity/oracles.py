"""Reference implementations of the definitions, one pair and one sample at a time; exact for whole numbers."""

from fractions import Fraction

import numpy as np


def product_of_norms(x, y):
    return float(np.sqrt(sum(a * a for a in x)) * np.sqrt(sum(b * b for b in y)))


def one(x, y):
    return 1


def dice(x, y):
    """Half the sum of squared norms."""
    return (sum(a * a for a in x) + sum(b * b for b in y)) / 2


def similarity(x, y, A, N=one):
    p = len(x)
    factor = N(x, y)
    return sum(x[m] * A[m][l] * y[l] for m in range(p) for l in range(p)) / factor if factor else 0.0  # noqa: E741


def exact_similarity(x, y, A):
    return Fraction(sum(int(x[m]) * int(A[m][l]) * int(y[l]) for m in range(len(x)) for l in range(len(y))))  # noqa: E741


def ranked(values, members):
    """Members in decreasing order of value, ties by lowest index. Values are whole numbers or clearly different."""
    return sorted(members, key=lambda j: (-_distinct(values[j]), j))


def _distinct(value):
    return value if isinstance(value, Fraction) else round(value, 10)


def knn_scores(values, y, k, classes):
    """Return (votes, summed similarity) of each class."""
    chosen = ranked(values, range(len(y)))[:k]
    return [
        (sum(y[j] == c for j in chosen), sum((_distinct(values[j]) for j in chosen if y[j] == c), Fraction(0)))
        for c in classes
    ]


def sknn_scores(values, y, k, classes):
    """Return (0, mean similarity of the k most similar) of each class."""
    means = []
    for c in classes:
        chosen = ranked(values, [j for j in range(len(y)) if y[j] == c])[:k]
        means.append((0, sum(_distinct(values[j]) for j in chosen) / Fraction(len(chosen))))
    return means


SCORES = {"knn-a": knn_scores, "sknn-a": sknn_scores}


def predict(values, y, k, rule):
    """Return the class of the best score; ties go to the lowest class."""
    classes = sorted(set(y))
    scores = SCORES[rule](values, y, k, classes)
    return classes[max(range(len(classes)), key=lambda c: (scores[c], -c))]


def hits_and_misses(values, y, i, k):
    """Return the k most similar hits and misses of sample i, the same number of both."""
    hits = ranked(values, [j for j in range(len(y)) if j != i and y[j] == y[i]])
    misses = ranked(values, [j for j in range(len(y)) if y[j] != y[i]])
    k = min(k, len(hits), len(misses))
    return hits[:k], misses[:k]


def all_pairs(X, y, k, N, A=None):
    """Hits and misses of every sample under s_A."""
    A = np.eye(X.shape[1]) if A is None else A
    found = []
    for i in range(len(X)):
        values = [similarity(X[i], X[j], A, N) for j in range(len(X))]
        found.append(hits_and_misses(values, y, i, k))
    return found


def form_of(x, z, N, form):
    """f(x, z) of the paper."""
    p, factor = len(x), N(x, z)
    f = np.zeros((p, p))
    if not factor:
        return f
    for m in range(p):
        for l in range(p):  # noqa: E741
            if form == "diagonal":
                f[m, l] = (m == l) * x[m] * z[l] / factor
            elif form == "symmetric":
                f[m, l] = (x[m] * z[l] + x[l] * z[m]) / factor
            else:
                f[m, l] = x[m] * z[l] / factor
    return f


def sila(X, y, k, form, epochs, N=one, neighbours="fixed-targets"):
    """Return the list of [matrix, weight] without the first one, which is 0 with weight 0."""
    p = X.shape[1]
    fixed = all_pairs(X, y, k, N)
    course = [[np.zeros((p, p)), 0]]
    for _ in range(epochs):
        for i in range(len(X)):
            A = course[-1][0]
            targets, impostors = fixed[i]
            if A.any() and neighbours != "fixed":
                values = [similarity(X[i], X[j], A, N) for j in range(len(X))]
                current = hits_and_misses(values, y, i, k)
                targets, impostors = (targets if neighbours == "fixed-targets" else current[0]), current[1]
            if not targets:
                continue
            difference = sum(similarity(X[i], X[j], A, N) for j in targets)
            difference -= sum(similarity(X[i], X[j], A, N) for j in impostors)
            if difference <= 1e-11:
                step = sum(form_of(X[i], X[j], N, form) for j in targets)
                step = step - sum(form_of(X[i], X[j], N, form) for j in impostors)
                course.append([A + step, 1])
            else:
                course[-1][1] += 1
    return course[1:]


def rbs_sum(X, y, k, N=one):
    """Return G, the sum over samples of x (y/N - z/N)' for hits y and misses z."""
    G = np.zeros((X.shape[1],) * 2)
    for i, (hits, misses) in enumerate(all_pairs(X, y, k, N)):
        for sign, found in ((1, hits), (-1, misses)):
            for j in found:
                if N(X[i], X[j]):
                    G += sign * np.outer(X[i], X[j]) / N(X[i], X[j])
    return G


def margins(X, y, k, A, N=one):
    """Return the margins under A with the hits and misses of the identity; NaN for a sample without."""
    values = np.full(len(X), np.nan)
    for i, (hits, misses) in enumerate(all_pairs(X, y, k, N)):
        if hits:
            values[i] = sum(similarity(X[i], X[j], A, N) for j in hits)
            values[i] -= sum(similarity(X[i], X[j], A, N) for j in misses)
    return values


def srbs_cost(A, X, y, k, beta, l2, N=one):
    return sum(1 / (1 + np.exp(beta * m)) for m in margins(X, y, k, A, N)) + l2 * (np.asarray(A) ** 2).sum()


def relief(X, y, k, draws, *, cut=False):
    """Weights of Relief: range-scaled absolute differences, Manhattan neighbours."""
    spread = np.ptp(X, axis=0)
    Z = X / np.where(spread > 0, spread, 1)
    w = np.zeros(X.shape[1])
    for i in draws:
        values = [-float(np.abs(Z[i] - Z[j]).sum()) for j in range(len(Z))]
        hits, misses = hits_and_misses(values, y, i, k)
        for q in range(len(hits)):
            w += (np.abs(Z[i] - Z[misses[q]]) - np.abs(Z[i] - Z[hits[q]])) / (len(draws) * len(hits))
        if cut:
            w = np.maximum(w, 0)
    return w
