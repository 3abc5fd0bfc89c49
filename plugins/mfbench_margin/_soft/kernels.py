"""Compiled loops over pairs of rows for `manhattan`.

A tile holds the distances from the rows of one block to those of another. Inner loops run along contiguous tile rows,
which lets the compiler compute several pairs at once. To do so, it must be allowed to reorder sums (``reassoc``) and to
assume that there is no NaN (inputs are finite); and it must see that indices are not negative, which is why loops run
from 0 over slices.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit

# Features of a chunk: few enough for a block of rows to stay in the cache while all rows of the other block use it.
CHUNK = 64
# exp(-45) is 3e-20: next to the nearest neighbour's exp(0), such terms vanish even if there are 10^4 of them.
CUTOFF = 45.0
FAST = {"reassoc", "contract", "nnan", "nsz"}


@njit(cache=True, fastmath=FAST)
def _decay(t):  # pragma: no cover
    """Return exp(-t) for t >= 0, and 0 beyond `CUTOFF`.

    The library computes one exponential at a time; this polynomial is computed for several numbers at once. It is the
    Taylor series of exp(-t / 128), |t / 128| < 0.36, squared seven times: relative error below 1e-13.
    """
    y = (t if t < CUTOFF else CUTOFF) * (-1.0 / 128.0)
    e = 1.0 / 39916800.0 + y * (1.0 / 479001600.0)
    e = 1.0 / 40320.0 + y * (1.0 / 362880.0 + y * (1.0 / 3628800.0 + y * e))
    e = 1.0 / 120.0 + y * (1.0 / 720.0 + y * (1.0 / 5040.0 + y * e))
    e = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * e))))
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e if t < CUTOFF else 0.0


@njit(cache=True, fastmath=FAST)
def _measure(tile, left, a, right, b, active, weights, triangle):  # pragma: no cover
    """Fill a tile with weighted distances of columns a, a + 1, … of left to columns b, b + 1, … of right.

    For a block and itself (`triangle`), only the part to the right of the diagonal.
    """
    n_rows, n_columns = tile.shape
    tile[:] = 0.0
    for chunk in range(0, len(active), CHUNK):
        end = min(chunk + CHUNK, len(active))
        for i in range(n_rows):
            first = i + 1 if triangle else 0
            row = tile[i, first:]
            k = chunk
            # Four features at a time: the tile is loaded and stored once for four additions.
            while k + 4 <= end:
                f0, f1, f2, f3 = active[k], active[k + 1], active[k + 2], active[k + 3]
                c0, c1 = right[f0, b + first : b + n_columns], right[f1, b + first : b + n_columns]
                c2, c3 = right[f2, b + first : b + n_columns], right[f3, b + first : b + n_columns]
                x0, x1, x2, x3 = left[f0, a + i], left[f1, a + i], left[f2, a + i], left[f3, a + i]
                w0, w1, w2, w3 = weights[f0], weights[f1], weights[f2], weights[f3]
                for j in range(len(row)):
                    row[j] += (w0 * abs(c0[j] - x0) + w1 * abs(c1[j] - x1)) + (
                        w2 * abs(c2[j] - x2) + w3 * abs(c3[j] - x3)
                    )
                k += 4
            while k < end:
                f0 = active[k]
                c0, x0, w0 = right[f0, b + first : b + n_columns], left[f0, a + i], weights[f0]
                for j in range(len(row)):
                    row[j] += w0 * abs(c0[j] - x0)
                k += 1


@njit(cache=True)
def find_soft_minima(
    columns, active, weights, inverse, bounds, block_class, tiles, keeps, nearest, sums
):  # pragma: no cover
    """Find the smallest distance and the sum of exponentials relative to it, for hits (first row) and misses (second).

    With `keeps`, the distances of all pairs of blocks are kept in `tiles`.
    """
    offset = 0
    for first in range(len(block_class)):
        a, a_end = bounds[first], bounds[first + 1]
        for second in range(first, len(block_class)):
            b, b_end = bounds[second], bounds[second + 1]
            size = (a_end - a) * (b_end - b)
            tile = tiles[offset : offset + size].reshape((a_end - a, b_end - b))
            _measure(tile, columns, a, columns, b, active, weights, first == second)
            kind = 0 if block_class[first] == block_class[second] else 1
            near, total = nearest[kind], sums[kind]
            _absorb_rows(tile, inverse, first == second, near[a:a_end], total[a:a_end])
            _absorb_columns(tile, inverse, first == second, near[b:b_end], total[b:b_end])
            if keeps:
                offset += size


@njit(cache=True, fastmath=FAST)
def _absorb_rows(tile, inverse, triangle, nearest, sums):  # pragma: no cover
    """Add the distances in each row of a tile to the soft minimum of the row."""
    for i in range(tile.shape[0]):
        row = tile[i, i + 1 if triangle else 0 :]
        if len(row) == 0:
            continue
        least = row[0]
        for j in range(len(row)):
            least = row[j] if row[j] < least else least
        if least < nearest[i]:
            if sums[i] > 0.0:
                sums[i] *= _decay((nearest[i] - least) * inverse)
            nearest[i] = least
        least = nearest[i]
        total = 0.0
        for j in range(len(row)):
            total += _decay((row[j] - least) * inverse)
        sums[i] += total


@njit(cache=True, fastmath=FAST)
def _absorb_columns(tile, inverse, triangle, nearest, sums):  # pragma: no cover
    """Add the distances in each column of a tile to the soft minimum of the column."""
    least = nearest.copy()
    for i in range(tile.shape[0]):
        first = i + 1 if triangle else 0
        row, low = tile[i, first:], least[first:]
        for j in range(len(row)):
            low[j] = row[j] if row[j] < low[j] else low[j]
    for j in range(len(least)):
        if sums[j] > 0.0:
            sums[j] *= _decay((nearest[j] - least[j]) * inverse)
    nearest[:] = least
    for i in range(tile.shape[0]):
        first = i + 1 if triangle else 0
        row, low, total = tile[i, first:], least[first:], sums[first:]
        for j in range(len(row)):
            total[j] += _decay((row[j] - low[j]) * inverse)


@njit(cache=True)
def accumulate_margins(
    columns, active, weights, inverse, bounds, block_class, tiles, keeps, nearest, shares, buffer, margins
):  # pragma: no cover
    """Add to `margins` the differences of all pairs, each with the coefficients of both its rows as targets.

    As the target i of a hit (first row of `nearest` and `shares`) or miss (second), a row gives the pair the
    coefficient shares[i] · exp(-(distance - nearest[i]) · inverse).
    """
    offset = 0
    for first in range(len(block_class)):
        a, a_end = bounds[first], bounds[first + 1]
        for second in range(first, len(block_class)):
            b, b_end = bounds[second], bounds[second + 1]
            size = (a_end - a) * (b_end - b)
            tile = tiles[offset : offset + size].reshape((a_end - a, b_end - b))
            if keeps:
                offset += size
            else:
                _measure(tile, columns, a, columns, b, active, weights, first == second)
            kind = 0 if block_class[first] == block_class[second] else 1
            near, share = nearest[kind], shares[kind]
            coefficients = buffer[:size].reshape((a_end - a, b_end - b))
            _fill_coefficients(
                coefficients, tile, inverse, first == second, near[a:a_end], share[a:a_end], near[b:b_end],
                share[b:b_end],
            )  # fmt: skip
            _add_differences(margins, coefficients, columns, a, b, first == second)


@njit(cache=True, fastmath=FAST)
def _fill_coefficients(
    coefficients, tile, inverse, triangle, row_nearest, row_shares, nearest, shares
):  # pragma: no cover
    for i in range(tile.shape[0]):
        first = i + 1 if triangle else 0
        row, target = tile[i, first:], coefficients[i, first:]
        near, share, low, factor = row_nearest[i], row_shares[i], nearest[first:], shares[first:]
        for j in range(len(row)):
            of_row = share * _decay((row[j] - near) * inverse)
            target[j] = of_row + factor[j] * _decay((row[j] - low[j]) * inverse)


@njit(cache=True, fastmath=FAST)
def _add_differences(margins, coefficients, columns, a, b, triangle):  # pragma: no cover
    n_rows, n_columns = coefficients.shape
    n_features = len(margins)
    for chunk in range(0, n_features, CHUNK):
        end = min(chunk + CHUNK, n_features)
        for i in range(n_rows):
            first = i + 1 if triangle else 0
            row = coefficients[i, first:]
            f = chunk
            # Four features at a time: a coefficient is loaded once for four products.
            while f + 4 <= end:
                c0, c1 = columns[f, b + first : b + n_columns], columns[f + 1, b + first : b + n_columns]
                c2, c3 = columns[f + 2, b + first : b + n_columns], columns[f + 3, b + first : b + n_columns]
                x0, x1 = columns[f, a + i], columns[f + 1, a + i]
                x2, x3 = columns[f + 2, a + i], columns[f + 3, a + i]
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                for j in range(len(row)):
                    s0 += row[j] * abs(c0[j] - x0)
                    s1 += row[j] * abs(c1[j] - x1)
                    s2 += row[j] * abs(c2[j] - x2)
                    s3 += row[j] * abs(c3[j] - x3)
                margins[f] += s0
                margins[f + 1] += s1
                margins[f + 2] += s2
                margins[f + 3] += s3
                f += 4
            while f < end:
                c0, x0, s0 = columns[f, b + first : b + n_columns], columns[f, a + i], 0.0
                for j in range(len(row)):
                    s0 += row[j] * abs(c0[j] - x0)
                margins[f] += s0
                f += 1


@njit(cache=True)
def expect_distances(queries, columns, weights, inverse, starts, leave_out, buffer, expected):  # pragma: no cover
    """Fill `expected` with the expected distance of each query to each class.

    With `leave_out`, query i is row i, which is not its own neighbour.
    """
    step, width = buffer.shape
    active = np.arange(len(columns))
    for a in range(0, len(expected), step):
        a_end = min(a + step, len(expected))
        for c in range(len(starts) - 1):
            nearest = np.full(a_end - a, np.inf)
            sums, products = np.zeros(a_end - a), np.zeros(a_end - a)
            for b in range(starts[c], starts[c + 1], width):
                b_end = min(b + width, starts[c + 1])
                tile = buffer[: a_end - a, : b_end - b]
                _measure(tile, queries, a, columns, b, active, weights, False)
                for i in range(a_end - a):
                    own = a + i - b
                    if leave_out and 0 <= own < b_end - b:
                        _absorb_distances(tile[i, :own], inverse, nearest, sums, products, i)
                        _absorb_distances(tile[i, own + 1 :], inverse, nearest, sums, products, i)
                    else:
                        _absorb_distances(tile[i], inverse, nearest, sums, products, i)
            for i in range(a_end - a):
                expected[a + i, c] = products[i] / sums[i] if sums[i] > 0.0 else np.inf


@njit(cache=True, fastmath=FAST)
def _absorb_distances(row, inverse, nearest, sums, products, i):  # pragma: no cover
    """Add distances to the sums of exponentials, and of distances times exponentials, of query i."""
    if len(row) == 0:
        return
    least = row[0]
    for j in range(len(row)):
        least = row[j] if row[j] < least else least
    if least < nearest[i]:
        if sums[i] > 0.0:
            fade = _decay((nearest[i] - least) * inverse)
            sums[i] *= fade
            products[i] *= fade
        nearest[i] = least
    least = nearest[i]
    total, product = 0.0, 0.0
    for j in range(len(row)):
        e = _decay((row[j] - least) * inverse)
        total += e
        product += row[j] * e
    sums[i] += total
    products[i] += product
