"""The epochs of SiLA: a perceptron over samples, whose impostors are found under the current matrix."""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit

# Number of rows in a tile of similarities, small enough for the first-level cache.
TILE = 512
# Differences of similarities below this share of the largest possible one count as ties.
TIE = 2.0**-40
DIAGONAL, SYMMETRIC, SQUARE = range(3)


@njit(cache=True)
def run(
    samples,
    rows,
    columns,
    order,
    low,
    high,
    inside,
    longest,
    hits,
    misses,
    counts,
    inverse,
    form,
    follow_hits,
    follow_misses,
    A,
    total,
    weight,
    kept,
    kept_weights,
    updates,
):  # pragma: no cover
    """Visit samples once, in order; return the weight of the last matrix and the number of updates so far.

    `low` and `high` bound the sorted rows of one side of the problem; `inside` marks the samples that belong to it.
    `inverse` holds 1 / N of each visited sample and all rows; it is empty if N is 1. A, the running total, and the
    matrices kept for voting are changed in place.
    """
    n, p = rows.shape
    k = hits.shape[1]
    weighted = inverse.size > 0
    u, v = np.empty(p), np.empty(p)
    tile = np.empty(TILE)
    hit, miss, value = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64), np.empty(k)
    nonzero = np.any(A != 0.0)
    for s in range(len(samples)):
        i = samples[s]
        count = counts[i]
        if count == 0:
            continue
        _map(u, rows[i], A, form)
        reach = np.sqrt(np.dot(u, u)) * longest
        factors = inverse[s] if weighted else inverse[0]
        hit[:count] = hits[i, :count]
        miss[:count] = misses[i, :count]
        if nonzero and (follow_hits or follow_misses):
            scale = _scale(reach, factors)
            own_low, own_high = low[i], high[i]
            for side in range(2):
                target_side = side == 0
                if (target_side and not follow_hits) or (not target_side and not follow_misses):
                    continue
                best = hit if target_side else miss
                value[:] = -np.inf
                if inside[i] == target_side:
                    _search(u, columns, own_low, own_high, scale, factors, order, i, count, best, value, tile)
                else:
                    _search(u, columns, 0, own_low, scale, factors, order, i, count, best, value, tile)
                    _search(u, columns, own_high, n, scale, factors, order, i, count, best, value, tile)
        v[:] = 0.0
        largest = 0.0
        for q in range(count):
            plus, minus = 1.0, 1.0
            if weighted:
                plus, minus = factors[hit[q]], factors[miss[q]]
                largest = max(largest, plus, minus)
            for f in range(p):
                v[f] += plus * rows[hit[q], f] - minus * rows[miss[q], f]
        bound = reach * (largest if weighted else 1.0) * count
        if np.dot(u, v) > TIE * bound:
            weight += 1.0
            continue
        _flush(A, weight, total, kept, kept_weights, updates)
        _add(A, rows[i], v, form)
        updates += 1
        weight = 1.0
        nonzero = np.any(A != 0.0)
    return weight, updates


@njit(cache=True)
def _flush(A, weight, total, kept, kept_weights, updates):  # pragma: no cover
    """Add a matrix that is about to change to the total, and to the ring of matrices kept for voting."""
    total += weight * A
    if len(kept) > 0 and updates > 0:
        slot = (updates - 1) % len(kept)
        kept[slot] = A
        kept_weights[slot] = weight


@njit(cache=True)
def _map(u, x, A, form):  # pragma: no cover
    if form == DIAGONAL:
        for f in range(len(x)):
            u[f] = x[f] * A[0, f]
        return
    u[:] = 0.0
    for m in range(len(x)):
        for f in range(len(x)):
            u[f] += x[m] * A[m, f]


@njit(cache=True)
def _add(A, x, v, form):  # pragma: no cover
    if form == DIAGONAL:
        for f in range(len(x)):
            A[0, f] += x[f] * v[f]
        return
    for m in range(len(x)):
        for f in range(len(x)):
            A[m, f] += x[m] * v[f] + (x[f] * v[m] if form == SYMMETRIC else 0.0)


@njit(cache=True)
def _scale(reach, factors):  # pragma: no cover
    """Return a power of two that scales similarities to integers below 2⁴⁰, as `lists.grid_of` does."""
    magnitude = reach * (factors.max() if factors.size > 0 else 1.0)
    exponent = np.ceil(np.log2(magnitude)) if magnitude > 0.0 else 0.0
    return 2.0 ** min(max(40.0 - exponent, -1000.0), 1000.0)


@njit(cache=True)
def _search(u, columns, begin, end, scale, factors, order, own, k, best, value, tile):  # pragma: no cover
    """Insert rows from begin to end among the k most similar; ties go to the lowest training index."""
    weighted = factors.size > 0
    p = len(u)
    start = begin
    while start < end:
        stop = min(start + TILE, end)
        scores = tile[: stop - start]
        scores[:] = 0.0
        f = 0
        # Four features at a time: a tile is loaded and stored once for four additions.
        while f + 4 <= p:
            a, b, c, d = u[f], u[f + 1], u[f + 2], u[f + 3]
            x, y = columns[f, start:stop], columns[f + 1, start:stop]
            z, w = columns[f + 2, start:stop], columns[f + 3, start:stop]
            for j in range(len(scores)):
                scores[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * w[j])
            f += 4
        while f < p:
            a, x = u[f], columns[f, start:stop]
            for j in range(len(scores)):
                scores[j] += a * x[j]
            f += 1
        if weighted:
            for j in range(len(scores)):
                scores[j] *= factors[start + j]
        for j in range(len(scores)):
            scores[j] = np.rint(scores[j] * scale)
        for j in range(len(scores)):
            if scores[j] >= value[k - 1]:
                _insert(value, best, k, scores[j], start + j, order, own)
        start = stop


@njit(cache=True)
def _insert(value, best, k, score, row, order, own):  # pragma: no cover
    if row == own or (score == value[k - 1] and order[row] > order[best[k - 1]]):
        return
    rank = k - 1
    while rank > 0 and (value[rank - 1] < score or (value[rank - 1] == score and order[best[rank - 1]] > order[row])):
        value[rank], best[rank] = value[rank - 1], best[rank - 1]
        rank -= 1
    value[rank], best[rank] = score, row
