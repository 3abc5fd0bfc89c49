"""Sums over all pairs of training samples, by threads: the soft minima of their distances, and the scatter matrix.

In the compiled loops a pair (i, j) is visited once, with i < j: its vector of absolute differences serves both samples.
Rows are sorted by class, so that a stretch of columns holds only hits or only misses of a row. The sums of parts are
added in one order: the result does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_margin._quadratic.distance_kernels import (
    ROWS,
    STRETCH,
    SUMS,
    differences,
    exponentials,
    load,
    quadratic_form,
)
from mfbench_margin._quadratic.layout import Form, Matrix, TrainingPairs, in_parts

# Pairs gathered before they are added to the scatter matrix.
GATHERED = 2 * STRETCH
# A pair whose coefficient is below this part of the largest possible one changes no digit of the scatter matrix.
NEGLIGIBLE = 1e-25


def softmins(
    pairs: TrainingPairs, form: Form, stored: Matrix, other: Matrix, step: float, sigma: float, n_threads: int = 1
) -> Matrix:
    """Return -sigma log Σ exp(-q / sigma) over the hits and over the misses of every sample, inf if it has none.

    Parameters
    ----------
    pairs : TrainingPairs
    form : Form
        W.
    stored, other : ndarray
        Distances, if the pairs are stored: stored + step (other - stored).
    step, sigma : float
    n_threads : int, default=1
    """

    def sums(part: int, n_parts: int) -> tuple[Matrix, Matrix]:
        kind = pairs.rows.dtype
        first, second = stored.astype(kind, copy=False), other.astype(kind, copy=False)
        least, total = softmin_sums(
            pairs.rows, pairs.columns, pairs.ends, form.matrix.astype(kind, copy=False), form.triangular, first,
            second, step, pairs.is_stored, sigma, part, n_parts,
        )  # fmt: skip
        return least, total

    leasts, totals = map(np.array, zip(*in_parts(sums, pairs.n, n_threads), strict=True))
    least = leasts.min(axis=0)
    total = np.zeros_like(least)
    for own_least, own_total in zip(leasts, totals, strict=True):
        some = own_total > 0.0
        total[some] += own_total[some] * np.exp((least[some] - own_least[some]) / sigma)
    out: Matrix = np.full_like(least, np.inf)
    some = total > 0.0
    out[some] = least[some] - sigma * np.log(total[some])
    return out


def scatter_matrix(
    pairs: TrainingPairs, form: Form, stored: Matrix, sigma: float, soft: Matrix, weights: Matrix, n_threads: int = 1
) -> Matrix:
    """Return Σ_i weight_i (Σ_h alpha_ih |d||d|^T - Σ_m beta_im |d||d|^T).

    Parameters
    ----------
    pairs, form, stored, sigma, n_threads
        As for `softmins`.
    soft : ndarray of shape (2, n)
        What `softmins` returns.
    weights : ndarray of shape (n,)
        The largest is about 1, because the kernel drops pairs of negligible weight by a fixed bound.
    """

    def sums(part: int, n_parts: int) -> Matrix:
        kind = pairs.rows.dtype
        out: Matrix = scatter(
            pairs.rows, pairs.columns, pairs.ends, form.matrix.astype(kind, copy=False), form.triangular,
            stored.astype(kind, copy=False), pairs.is_stored, sigma, soft, weights, part, n_parts,
        )  # fmt: skip
        return out

    lower = np.sum(in_parts(sums, pairs.n, n_threads), axis=0)[: pairs.p, : pairs.p]
    total: Matrix = np.tril(lower) + np.tril(lower, -1).T
    return total


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


@njit(cache=True, nogil=True)
def softmin_sums(
    rows, columns, ends, form, triangular, stored, other, step, is_stored, sigma, part, n_parts
):  # pragma: no cover
    """Return the least distance q over the hits and over the misses of every sample, and Σ exp((least - q) / sigma).

    Of the pairs in one of several parts; inf and 0 for a sample without any. Distances are those of `form`, or if
    `is_stored`, stored + step (other - stored). The numbers of `columns` decide the precision of the distances.
    """
    n, kind = len(rows), columns.dtype
    least, total = np.full((2, n), np.inf), np.zeros((2, n))
    D, y, q = np.empty((columns.shape[0], STRETCH), kind), np.empty((4, STRETCH), kind), np.empty(STRETCH, kind)
    scratch, e = np.empty(STRETCH), np.empty(STRETCH)
    for top, bottom, begin, end, miss in _tiles(ends, n, part, n_parts):
        for i in range(top, bottom):
            first = max(begin, i + 1)
            if first >= end:
                continue
            if is_stored:
                distances = load(q, stored, other, step, i, first, end, n)
            else:
                differences(D, columns, rows[i], first, end)
                distances = q[: end - first]
                quadratic_form(distances, D, form, triangular, y, end - first)
            _update_softmin(distances, sigma, least[miss], total[miss], i, first, scratch, e)
    return least, total


# Not cached, for the same reason as `prediction._class_tiles`.
@njit
def _tiles(ends, n, part, n_parts):  # pragma: no cover
    # (top, bottom, begin, end, miss): rows top … bottom - 1 of one class against columns begin … end - 1, of the same
    # class (miss = 0) or of later ones (miss = 1). Blocks of rows go to the parts in turn.
    start, number = 0, 0
    for c in range(len(ends)):
        stop = ends[c]
        for top in range(start, stop, ROWS):
            number += 1
            if number % n_parts != part:
                continue
            bottom = min(top + ROWS, stop)
            for begin in range(top, stop, STRETCH):
                yield top, bottom, begin, min(begin + STRETCH, stop), 0
            for begin in range(stop, n, STRETCH):
                yield top, bottom, begin, min(begin + STRETCH, n), 1
        start = stop


@njit(cache=True, fastmath=SUMS)
def _coefficients(c, q, soft, sigma, weights, i, begin, scratch, e):  # pragma: no cover
    # weight_i alpha_ij + weight_j alpha_ji for the stretch; returns how many of them matter.
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
def _gather_some(S, at, c, columns, x, begin, m, kept):  # pragma: no cover
    count = 0
    for k in range(m):
        if c[k] > NEGLIGIBLE:
            kept[count] = k
            c[count] = np.sqrt(c[k])
            count += 1
    for a in range(len(columns)):
        column, s, xa = columns[a, begin : begin + m], S[a, at : at + count], x[a]
        for t in range(count):
            s[t] = c[t] * abs(column[kept[t]] - xa)
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
    zero = S.dtype.type(0.0)
    for a in range(0, len(out), 4):
        u0, u1, u2, u3 = S[a, :count], S[a + 1, :count], S[a + 2, :count], S[a + 3, :count]
        for b in range(0, a + 4, 4):
            v0, v1, v2, v3 = S[b, :count], S[b + 1, :count], S[b + 2, :count], S[b + 3, :count]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = zero
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


@njit(cache=True, nogil=True)
def scatter(
    rows, columns, ends, form, triangular, stored, is_stored, sigma, soft, weights, part, n_parts
):  # pragma: no cover
    """Return the lower triangle of Σ_i weight_i (Σ_h alpha_ih |d||d|^T - Σ_m beta_im |d||d|^T).

    The sum is over the pairs in one of several parts. The numbers of `columns` decide the precision of products.
    """
    (n, n_features), kind = rows.shape, columns.dtype
    out = np.zeros((n_features, n_features))
    S = np.empty((n_features, GATHERED), kind)
    D, y, q = np.empty((n_features, STRETCH), kind), np.empty((4, STRETCH), kind), np.empty(STRETCH, kind)
    c, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    kept = np.empty(STRETCH, dtype=np.int64)
    count, sign = 0, 1.0
    for top, bottom, begin, end, miss in _tiles(ends, n, part, n_parts):
        if (sign < 0.0) != (miss == 1):
            _add_lower(out, sign, S, count)
            count, sign = 0, -sign
        for i in range(top, bottom):
            first = max(begin, i + 1)
            if first >= end:
                continue
            m = end - first
            if is_stored:
                distances = load(q, stored, stored, 0.0, i, first, end, n)
            else:
                differences(D, columns, rows[i], first, end)
                distances = q[:m]
                quadratic_form(distances, D, form, triangular, y, m)
            matter = _coefficients(c, distances, soft[miss], sigma, weights, i, first, scratch, e)
            if matter == 0:
                continue
            if count + m > GATHERED:
                _add_lower(out, sign, S, count)
                count = 0
            if 4 * matter > 3 * m:
                count += _gather_all(S, count, c, columns, rows[i], first, m)
            else:
                count += _gather_some(S, count, c, columns, rows[i], first, m, kept)
    _add_lower(out, sign, S, count)
    return out
