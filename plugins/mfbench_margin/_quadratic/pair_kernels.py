"""Compiled loops over pairs of samples: distances, soft minima, scatter matrix and expected distances of IMMIGRATE.

A pair (i, j) is visited once, with i < j: its vector of absolute differences serves both samples. Rows are sorted by
class, so that a stretch of j holds hits of i only or misses of i only. A stretch is worked on feature by feature, with
the inner loop running along j, which compilers turn into vector instructions; nothing of size n² p ever exists.

Fast-math flags allow the compiler to reorder sums, never to assume the absence of infinities.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SUMS = {"contract", "reassoc", "nsz"}
FUSED = {"contract", "nsz"}
# Columns of a stretch: its differences stay in the first- or second-level cache.
STRETCH = 256
# Rows that pass over a stretch before the next one is fetched.
ROWS = 32
# Pairs gathered before they are added to the scatter matrix.
GATHERED = 2 * STRETCH
# A pair whose coefficient is below this part of the largest possible one changes no digit of the scatter matrix.
NEGLIGIBLE = 1e-25


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def exponentials(x, out):  # pragma: no cover
    """Write exp(x) for x <= 0 (or hardly above); below -708, where doubles end, exp(-708) = 3e-308.

    The library's exp is called number by number in compiled loops; this one is vectorised. x = k log 2 + r, and exp(r)
    is its Taylor polynomial, exact to the last bits for |r| <= log(2) / 2.
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
def _differences(D, columns, x, begin, end):  # pragma: no cover
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
def _quadratic_form(q, D, form, triangular, y, m):  # pragma: no cover
    """Write q = |d|^T W |d| for the m columns of D.

    With `triangular`, form is the lower triangle of W with doubled off-diagonal: half of the work that W itself would
    take. Otherwise W = form^T form, which is cheaper still where form has few rows.
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
def _load(q, stored, other, step, i, begin, end, n):  # pragma: no cover
    # A view where nothing is to be computed; else q, filled with stored + step (other - stored).
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
def _next_differences(D, columns, rows, i, j):  # pragma: no cover
    # Fill D with the pairs from (i, j) on, row by row; the pair after the last one, and how many there were.
    n, width = len(rows), D.shape[1]
    count = 0
    while count < width and i < n - 1:
        m = min(width - count, n - j)
        _differences(D[:, count:], columns, rows[i], j, j + m)
        count += m
        j += m
        if j == n:
            i += 1
            j = i + 1
    return i, j, count


@njit(cache=True)
def store_distances(rows, columns, form, triangular, out):  # pragma: no cover
    """Write the distance of every pair to `out`, row by row above the diagonal.

    Pairs come in batches that fill a stretch whatever the row, so that the product with a factor of W, form with
    W = form^T form, is one of whole matrices.
    """
    D, y = np.zeros((columns.shape[0], STRETCH)), np.empty((4, STRETCH))
    product = np.empty((len(form), STRETCH))
    i, j, at = 0, 1, 0
    while at < len(out):
        i, j, count = _next_differences(D, columns, rows, i, j)
        q = out[at : at + count]
        if triangular:
            _quadratic_form(q, D, form, True, y, count)
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


@njit(cache=True, fastmath=SUMS)
def _update_softmin(q, sigma, least, total, i, begin, scratch, e):  # pragma: no cover
    # Running minimum and sum of exp((minimum - q) / sigma), for sample i and for the samples of the stretch.
    m = len(q)
    low = q[0]
    for k in range(m):
        low = min(low, q[k])
    if low < least[i]:
        total[i] *= np.exp((low - least[i]) / sigma)
        least[i] = low
    low = least[i]
    s, a = scratch[:m], e[:m]
    for k in range(m):
        s[k] = (low - q[k]) / sigma
    exponentials(s, a)
    sum_ = 0.0
    for k in range(m):
        sum_ += a[k]
    total[i] += sum_
    lows, totals = least[begin : begin + m], total[begin : begin + m]
    for k in range(m):
        s[k] = -abs(q[k] - lows[k]) / sigma
    exponentials(s, a)
    for k in range(m):
        below = q[k] < lows[k]
        totals[k] = totals[k] * a[k] + 1.0 if below else totals[k] + a[k]
        lows[k] = q[k] if below else lows[k]


@njit(cache=True)
def softmins(rows, columns, ends, form, triangular, stored, other, step, is_stored, sigma):  # pragma: no cover
    """Return -sigma log Σ exp(-q / sigma) over the hits and over the misses of every sample, inf where it has none.

    Distances are those of `form`, or if `is_stored`, stored + step (other - stored).
    """
    n = len(rows)
    least, total = np.full((2, n), np.inf), np.zeros((2, n))
    D, y = np.empty((columns.shape[0], STRETCH)), np.empty((4, STRETCH))
    q, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    for top, bottom, begin, end, miss in _tiles(ends, n):
        for i in range(top, bottom):
            first = max(begin, i + 1)
            if first >= end:
                continue
            if is_stored:
                known = _load(q, stored, other, step, i, first, end, n)
            else:
                _differences(D, columns, rows[i], first, end)
                known = q[: end - first]
                _quadratic_form(known, D, form, triangular, y, end - first)
            _update_softmin(known, sigma, least[miss], total[miss], i, first, scratch, e)
    out = np.full((2, n), np.inf)
    for side in range(2):
        for i in range(n):
            if total[side, i] > 0.0:
                out[side, i] = least[side, i] - sigma * np.log(total[side, i])
    return out


# Not cached, for the reason that `_class_tiles` has.
@njit
def _tiles(ends, n):  # pragma: no cover
    # (top, bottom, begin, end, miss): rows top … bottom - 1 of one class against columns begin … end - 1, of the same
    # class (miss = 0) or of later ones (miss = 1).
    start = 0
    for c in range(len(ends)):
        stop = ends[c]
        for top in range(start, stop, ROWS):
            bottom = min(top + ROWS, stop)
            for begin in range(top, stop, STRETCH):
                yield top, bottom, begin, min(begin + STRETCH, stop), 0
            for begin in range(stop, n, STRETCH):
                yield top, bottom, begin, min(begin + STRETCH, n), 1
        start = stop


@njit(cache=True, fastmath=SUMS)
def _coefficients(c, q, soft, sigma, weights, i, begin, scratch, e):  # pragma: no cover
    # weight_i alpha_ij + weight_j alpha_ji for the stretch; the number of those that matter.
    m = len(q)
    own, w = soft[i], weights[i]
    s, a, c = scratch[:m], e[:m], c[:m]
    softs, ws = soft[begin : begin + m], weights[begin : begin + m]
    for k in range(m):
        s[k] = (own - q[k]) / sigma
    exponentials(s, a)
    for k in range(m):
        c[k] = w * a[k]
        s[k] = (softs[k] - q[k]) / sigma
    exponentials(s, a)
    matter = 0
    for k in range(m):
        c[k] += ws[k] * a[k]
        matter += 1 if c[k] > NEGLIGIBLE else 0
    return matter


@njit(cache=True)
def _gather_some(S, at, c, columns, x, begin, m, places):  # pragma: no cover
    count = 0
    for k in range(m):
        if c[k] > NEGLIGIBLE:
            places[count] = k
            c[count] = np.sqrt(c[k])
            count += 1
    for a in range(len(columns)):
        column, s, xa = columns[a, begin : begin + m], S[a, at : at + count], x[a]
        for t in range(count):
            s[t] = c[t] * abs(column[places[t]] - xa)
    return count


@njit(cache=True)
def _gather_all(S, at, c, columns, x, begin, m):  # pragma: no cover
    roots = c[:m]
    for k in range(m):
        roots[k] = np.sqrt(roots[k])
    for a in range(len(columns)):
        column, s, xa = columns[a, begin : begin + m], S[a, at : at + m], x[a]
        for k in range(m):
            s[k] = roots[k] * abs(column[k] - xa)
    return m


@njit(cache=True, fastmath=SUMS)
def _add_lower(out, sign, S, count):  # pragma: no cover
    # The lower triangle of out += sign S S^T, in blocks of 4 x 4 whose sums stay in registers.
    for a in range(0, len(out), 4):
        u0, u1, u2, u3 = S[a, :count], S[a + 1, :count], S[a + 2, :count], S[a + 3, :count]
        for b in range(0, a + 4, 4):
            v0, v1, v2, v3 = S[b, :count], S[b + 1, :count], S[b + 2, :count], S[b + 3, :count]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for k in range(count):
                p, q, r, s = u0[k], u1[k], u2[k], u3[k]
                t, u, v, w = v0[k], v1[k], v2[k], v3[k]
                s00 += p * t
                s01 += p * u
                s02 += p * v
                s03 += p * w
                s10 += q * t
                s11 += q * u
                s12 += q * v
                s13 += q * w
                s20 += r * t
                s21 += r * u
                s22 += r * v
                s23 += r * w
                s30 += s * t
                s31 += s * u
                s32 += s * v
                s33 += s * w
            o = out[a : a + 4, b : b + 4]
            o[0, 0] += sign * s00
            o[0, 1] += sign * s01
            o[0, 2] += sign * s02
            o[0, 3] += sign * s03
            o[1, 0] += sign * s10
            o[1, 1] += sign * s11
            o[1, 2] += sign * s12
            o[1, 3] += sign * s13
            o[2, 0] += sign * s20
            o[2, 1] += sign * s21
            o[2, 2] += sign * s22
            o[2, 3] += sign * s23
            o[3, 0] += sign * s30
            o[3, 1] += sign * s31
            o[3, 2] += sign * s32
            o[3, 3] += sign * s33


@njit(cache=True)
def scatter(rows, columns, ends, form, triangular, stored, is_stored, sigma, soft, weights):  # pragma: no cover
    """Return the lower triangle of Σ_i weight_i (Σ_h alpha_ih |d||d|^T - Σ_m beta_im |d||d|^T)."""
    n, n_features = rows.shape
    out = np.zeros((n_features, n_features))
    S = np.empty((n_features, GATHERED))
    D, y = np.empty((n_features, STRETCH)), np.empty((4, STRETCH))
    q, c, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    places = np.empty(STRETCH, dtype=np.int64)
    count, sign = 0, 1.0
    for top, bottom, begin, end, miss in _tiles(ends, n):
        if (sign < 0.0) != (miss == 1):
            _add_lower(out, sign, S, count)
            count, sign = 0, -sign
        for i in range(top, bottom):
            first = max(begin, i + 1)
            if first >= end:
                continue
            m = end - first
            if is_stored:
                known = _load(q, stored, stored, 0.0, i, first, end, n)
            else:
                _differences(D, columns, rows[i], first, end)
                known = q[:m]
                _quadratic_form(known, D, form, triangular, y, m)
            matter = _coefficients(c, known, soft[miss], sigma, weights, i, first, scratch, e)
            if matter == 0:
                continue
            if count + m > GATHERED:
                _add_lower(out, sign, S, count)
                count = 0
            if 4 * matter > 3 * m:
                count += _gather_all(S, count, c, columns, rows[i], first, m)
            else:
                count += _gather_some(S, count, c, columns, rows[i], first, m, places)
    _add_lower(out, sign, S, count)
    return out
