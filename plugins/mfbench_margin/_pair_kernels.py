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
# Columns of a stretch: its differences stay in the first- or second-level cache.
STRETCH = 128
# Rows that pass over a stretch before the next one is fetched.
ROWS = 32
# Pairs gathered before they are added to the scatter matrix.
GATHERED = 4 * STRETCH
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


@njit(cache=True, fastmath=SUMS)
def _add_product(y, f, D, first, m):  # pragma: no cover
    # y += f D for four rows of f and the four features from `first` on.
    d0, d1, d2, d3 = D[first, :m], D[first + 1, :m], D[first + 2, :m], D[first + 3, :m]
    y0, y1, y2, y3 = y[0, :m], y[1, :m], y[2, :m], y[3, :m]
    f00, f01, f02, f03 = f[0, first], f[0, first + 1], f[0, first + 2], f[0, first + 3]
    f10, f11, f12, f13 = f[1, first], f[1, first + 1], f[1, first + 2], f[1, first + 3]
    f20, f21, f22, f23 = f[2, first], f[2, first + 1], f[2, first + 2], f[2, first + 3]
    f30, f31, f32, f33 = f[3, first], f[3, first + 1], f[3, first + 2], f[3, first + 3]
    for k in range(m):
        a, b, c, d = d0[k], d1[k], d2[k], d3[k]
        y0[k] += (f00 * a + f01 * b) + (f02 * c + f03 * d)
        y1[k] += (f10 * a + f11 * b) + (f12 * c + f13 * d)
        y2[k] += (f20 * a + f21 * b) + (f22 * c + f23 * d)
        y3[k] += (f30 * a + f31 * b) + (f32 * c + f33 * d)


@njit(cache=True, fastmath=SUMS)
def _add_single(y, f, D, first, m):  # pragma: no cover
    d0, d1, d2, d3 = D[first, :m], D[first + 1, :m], D[first + 2, :m], D[first + 3, :m]
    f0, f1, f2, f3 = f[first], f[first + 1], f[first + 2], f[first + 3]
    for k in range(m):
        y[k] += (f0 * d0[k] + f1 * d1[k]) + (f2 * d2[k] + f3 * d3[k])


@njit(cache=True, fastmath=SUMS)
def _quadratic_form(q, D, form, triangular, y, m):  # pragma: no cover
    """Write q = |d|^T W |d| for the m columns of D.

    With `triangular`, form is the lower triangle of W with doubled off-diagonal: half of the work that W itself would
    take. Otherwise W = form^T form, which is cheaper still where form has few rows.
    """
    n_rows, n_features = form.shape
    q[:m] = 0.0
    whole = n_rows - n_rows % 4
    for r in range(0, whole, 4):
        y[:, :m] = 0.0
        for first in range(0, r + 4 if triangular else n_features, 4):
            _add_product(y, form[r : r + 4], D, first, m)
        y0, y1, y2, y3 = y[0, :m], y[1, :m], y[2, :m], y[3, :m]
        if triangular:
            d0, d1, d2, d3 = D[r, :m], D[r + 1, :m], D[r + 2, :m], D[r + 3, :m]
            for k in range(m):
                q[k] += (y0[k] * d0[k] + y1[k] * d1[k]) + (y2[k] * d2[k] + y3[k] * d3[k])
        else:
            for k in range(m):
                q[k] += (y0[k] * y0[k] + y1[k] * y1[k]) + (y2[k] * y2[k] + y3[k] * y3[k])
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
def store_distances(rows, columns, ends, form, triangular, out):  # pragma: no cover
    """Write the distance of every pair to `out`, row by row above the diagonal."""
    n = len(rows)
    D, y = np.empty((columns.shape[0], STRETCH)), np.empty((4, STRETCH))
    for top in range(0, n, ROWS):
        for begin in range(top, n, STRETCH):
            for i in range(top, min(top + ROWS, n)):
                first, end = max(begin, i + 1), min(begin + STRETCH, n)
                if first < end:
                    _differences(D, columns, rows[i], first, end)
                    at = _row_offset(i, n)
                    _quadratic_form(out[at + first : at + end], D, form, triangular, y, end - first)


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


@njit(cache=True)
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
def _gather_some(U, V, at, c, sign, columns, x, begin, m, places):  # pragma: no cover
    count = 0
    for k in range(m):
        if c[k] > NEGLIGIBLE:
            places[count] = k
            count += 1
    for a in range(len(columns)):
        column, u, v, xa = columns[a, begin : begin + m], U[a, at : at + count], V[a, at : at + count], x[a]
        for t in range(count):
            k = places[t]
            d = abs(column[k] - xa)
            v[t] = d
            u[t] = sign * c[k] * d
    return count


@njit(cache=True)
def _gather_all(U, V, at, c, sign, columns, x, begin, m):  # pragma: no cover
    for a in range(len(columns)):
        column, u, v, xa = columns[a, begin : begin + m], U[a, at : at + m], V[a, at : at + m], x[a]
        for k in range(m):
            d = abs(column[k] - xa)
            v[k] = d
            u[k] = sign * c[k] * d


@njit(cache=True, fastmath=SUMS)
def _add_lower(out, U, V, count):  # pragma: no cover
    # The lower triangle of out += U V^T, in blocks of 4 x 4 whose sums stay in registers.
    for a in range(0, len(out), 4):
        u0, u1, u2, u3 = U[a, :count], U[a + 1, :count], U[a + 2, :count], U[a + 3, :count]
        for b in range(0, a + 4, 4):
            v0, v1, v2, v3 = V[b, :count], V[b + 1, :count], V[b + 2, :count], V[b + 3, :count]
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
            o[0, 0] += s00
            o[0, 1] += s01
            o[0, 2] += s02
            o[0, 3] += s03
            o[1, 0] += s10
            o[1, 1] += s11
            o[1, 2] += s12
            o[1, 3] += s13
            o[2, 0] += s20
            o[2, 1] += s21
            o[2, 2] += s22
            o[2, 3] += s23
            o[3, 0] += s30
            o[3, 1] += s31
            o[3, 2] += s32
            o[3, 3] += s33


@njit(cache=True)
def scatter(rows, columns, ends, form, triangular, stored, is_stored, sigma, soft, weights):  # pragma: no cover
    """Return the lower triangle of Σ_i weight_i (Σ_h alpha_ih |d||d|^T - Σ_m beta_im |d||d|^T)."""
    n, n_features = rows.shape
    out = np.zeros((n_features, n_features))
    U, V = np.empty((n_features, GATHERED)), np.empty((n_features, GATHERED))
    D, y = np.empty((n_features, STRETCH)), np.empty((4, STRETCH))
    q, c, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    places = np.empty(STRETCH, dtype=np.int64)
    count = 0
    for top, bottom, begin, end, miss in _tiles(ends, n):
        sign = -1.0 if miss else 1.0
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
                _add_lower(out, U, V, count)
                count = 0
            if 4 * matter > 3 * m:
                _gather_all(U, V, count, c, sign, columns, rows[i], first, m)
                count += m
            else:
                count += _gather_some(U, V, count, c, sign, columns, rows[i], first, m, places)
    _add_lower(out, U, V, count)
    return out
