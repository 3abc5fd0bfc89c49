"""Compiled loops that training and prediction share: differences of samples, their quadratic form, exponentials.

Distances are computed for a stretch of columns at a time, feature by feature, with the inner loop running along the
columns, which compilers turn into vector instructions; nothing of size n² p ever exists.

Fast-math flags allow the compiler to reorder sums, never to assume the absence of infinities.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit

SUMS = {"contract", "reassoc", "nsz"}
FUSED = {"contract", "nsz"}
# Columns of a stretch: its differences stay in the first- or second-level cache.
STRETCH = 256
# Rows that use a stretch before the next one is loaded.
ROWS = 32


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def exponentials(x, out):  # pragma: no cover
    """Write exp(x) for x <= 0 (or hardly above); below -708, where doubles end, exp(-708) = 3e-308.

    In compiled loops the library computes one exponential at a time; this one is vectorised. With x = k log 2 + r,
    exp(r) is its Taylor polynomial, exact to the last bits for |r| <= log(2) / 2.
    """
    for i in range(len(x)):
        v = max(x[i], -708.0)
        k = np.floor(v * 1.4426950408889634 + 0.5)
        r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        out[i] = p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@njit(cache=True)
def differences(D, columns, x, begin, end):  # pragma: no cover
    for a in range(len(columns)):
        column, d, xa = columns[a, begin:end], D[a, : end - begin], x[a]
        for k in range(len(d)):
            d[k] = abs(column[k] - xa)


@njit(cache=True, fastmath=FUSED)
def _add_product(y, f, D, first, m):  # pragma: no cover
    # y += f D for four rows of f and the four features from `first` on; y = f D for the first four.
    d0, d1, d2, d3 = D[first, :m], D[first + 1, :m], D[first + 2, :m], D[first + 3, :m]
    y0, y1, y2, y3 = y[0, :m], y[1, :m], y[2, :m], y[3, :m]
    f00, f01, f02, f03 = f[0, first], f[0, first + 1], f[0, first + 2], f[0, first + 3]
    f10, f11, f12, f13 = f[1, first], f[1, first + 1], f[1, first + 2], f[1, first + 3]
    f20, f21, f22, f23 = f[2, first], f[2, first + 1], f[2, first + 2], f[2, first + 3]
    f30, f31, f32, f33 = f[3, first], f[3, first + 1], f[3, first + 2], f[3, first + 3]
    # Nested this way, each term becomes one fused multiply-add.
    if first == 0:
        for k in range(m):
            a, b, c, d = d0[k], d1[k], d2[k], d3[k]
            y0[k] = f03 * d + (f02 * c + (f01 * b + f00 * a))
            y1[k] = f13 * d + (f12 * c + (f11 * b + f10 * a))
            y2[k] = f23 * d + (f22 * c + (f21 * b + f20 * a))
            y3[k] = f33 * d + (f32 * c + (f31 * b + f30 * a))
        return
    for k in range(m):
        a, b, c, d = d0[k], d1[k], d2[k], d3[k]
        y0[k] = f03 * d + (f02 * c + (f01 * b + (f00 * a + y0[k])))
        y1[k] = f13 * d + (f12 * c + (f11 * b + (f10 * a + y1[k])))
        y2[k] = f23 * d + (f22 * c + (f21 * b + (f20 * a + y2[k])))
        y3[k] = f33 * d + (f32 * c + (f31 * b + (f30 * a + y3[k])))


@njit(cache=True, fastmath=SUMS)
def _add_single(y, f, D, first, m):  # pragma: no cover
    d0, d1, d2, d3 = D[first, :m], D[first + 1, :m], D[first + 2, :m], D[first + 3, :m]
    f0, f1, f2, f3 = f[first], f[first + 1], f[first + 2], f[first + 3]
    for k in range(m):
        y[k] += (f0 * d0[k] + f1 * d1[k]) + (f2 * d2[k] + f3 * d3[k])


@njit(cache=True, fastmath=FUSED)
def quadratic_form(q, D, form, triangular, y, m):  # pragma: no cover
    """Write q = |d|^T W |d| for the m columns of D.

    With `triangular`, form is the lower triangle of W with doubled off-diagonal: half the work that W itself would
    take. Otherwise W = form^T form, which is cheaper still if form has few rows.
    """
    n_rows, n_features = form.shape
    q[:m] = 0.0
    whole = n_rows - n_rows % 4
    for r in range(0, whole, 4):
        for first in range(0, r + 4 if triangular else n_features, 4):
            _add_product(y, form[r : r + 4], D, first, m)
        y0, y1, y2, y3 = y[0, :m], y[1, :m], y[2, :m], y[3, :m]
        if triangular:
            d0, d1, d2, d3 = D[r, :m], D[r + 1, :m], D[r + 2, :m], D[r + 3, :m]
            for k in range(m):
                q[k] = y3[k] * d3[k] + (y2[k] * d2[k] + (y1[k] * d1[k] + (y0[k] * d0[k] + q[k])))
        else:
            for k in range(m):
                q[k] = y3[k] * y3[k] + (y2[k] * y2[k] + (y1[k] * y1[k] + (y0[k] * y0[k] + q[k])))
    for r in range(whole, n_rows):
        y0 = y[0, :m]
        y0[:] = 0.0
        for first in range(0, n_features, 4):
            _add_single(y0, form[r], D, first, m)
        for k in range(m):
            q[k] += y0[k] * y0[k]


@njit(cache=True)
def _row_offset(i, n):  # pragma: no cover
    # Pair (i, j) is stored at _row_offset(i, n) + j: row by row above the diagonal.
    return i * (n - 1) - i * (i - 1) // 2 - i - 1


@njit(cache=True)
def load(q, stored, other, step, i, begin, end, n):  # pragma: no cover
    # A view if nothing is to be computed; otherwise q, filled with stored + step (other - stored).
    at = _row_offset(i, n)
    first = stored[at + begin : at + end]
    if step == 0.0:
        return first
    second = other[at + begin : at + end]
    m = end - begin
    for k in range(m):
        q[k] = first[k] + step * (second[k] - first[k])
    return q[:m]


@njit(cache=True)
def _next_differences(D, columns, rows, i, j, stop):  # pragma: no cover
    # Fill D with the pairs from (i, j) on, row by row up to row stop - 1; return the pair after the last one, and how
    # many there were.
    n, width = len(rows), D.shape[1]
    count = 0
    while count < width and i < stop:
        m = min(width - count, n - j)
        differences(D[:, count:], columns, rows[i], j, j + m)
        count += m
        j += m
        if j == n:
            i += 1
            j = i + 1
    return i, j, count


@njit(cache=True)
def _first_row(part, n_parts, n):  # pragma: no cover
    # Where a part begins, if parts of consecutive rows have about as many pairs each.
    begin = part * (n * (n - 1) // 2) // n_parts
    i = 0
    while i < n - 1 and _row_offset(i, n) + i + 1 < begin:
        i += 1
    return i


@njit(cache=True, nogil=True)
def store_distances(rows, columns, form, triangular, out, part, n_parts):  # pragma: no cover
    """Write the distances of the pairs in one of several parts to `out`, row by row above the diagonal.

    Batches of pairs fill a stretch regardless of rows: the product with a factor of W, form with W = form^T form, is
    then one of whole matrices.
    """
    kind = columns.dtype
    D, y = np.zeros((columns.shape[0], STRETCH), kind), np.empty((4, STRETCH), kind)
    product = np.empty((len(form), STRETCH), kind)
    n = len(rows)
    i, stop = _first_row(part, n_parts, n), _first_row(part + 1, n_parts, n)
    j, at = i + 1, _row_offset(i, n) + i + 1
    while i < stop:
        i, j, count = _next_differences(D, columns, rows, i, j, stop)
        q = out[at : at + count]
        if triangular:
            quadratic_form(q, D, form, True, y, count)
        else:
            np.dot(form, D, product)
            _sum_squares(q, product)
        at += count


@njit(cache=True, fastmath=SUMS)
def _sum_squares(q, product):  # pragma: no cover
    q[:] = 0.0
    for r in range(len(product)):
        y = product[r, : len(q)]
        for k in range(len(q)):
            q[k] += y[k] * y[k]
