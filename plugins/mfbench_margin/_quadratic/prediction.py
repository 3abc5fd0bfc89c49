"""Expected distances under a learned W: of new rows, and of training samples left out of their own neighbours.

The compiled loops find those of a row to each class in one pass over the training samples. For each row and class three
numbers are updated: the least distance so far, the sum of exp((least - q) / sigma), and that sum weighted by q. The
third divided by the second is the expected distance.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from mfbench_margin._quadratic.layout import NOT_STORED, Form, Matrix, TrainingPairs


@dataclass(frozen=True)
class ExpectedQuadratic:
    """Expected distances to each class under a learned W.

    Attributes
    ----------
    pairs : TrainingPairs
    form : Form
        The learned W.
    sigma : float
        Softness.
    """

    pairs: TrainingPairs
    form: Form
    sigma: float

    def of_rows(self, X: Matrix) -> Matrix:
        """Return the expected distance of each row to each class, shape (n_rows, n_classes)."""
        pairs, form = self.pairs, self.form
        expected: Matrix = expected_of_queries(
            pairs.pad(X), pairs.columns, pairs.ends, form.matrix, form.triangular, self.sigma
        )
        return expected.T

    def of_training(self, stored: Matrix = NOT_STORED) -> Matrix:
        """Return those of the training samples in their original order, each left out of its own neighbours.

        Parameters
        ----------
        stored : ndarray
            Distances of all pairs under W, if they are stored.
        """
        pairs, form = self.pairs, self.form
        expected = expected_of_training(
            pairs.rows, pairs.columns, pairs.ends, form.matrix, form.triangular, stored, len(stored) > 0, self.sigma
        )
        in_order = np.empty((pairs.n, len(pairs.ends)))
        in_order[pairs.order] = expected.T
        return in_order


@njit(cache=True, fastmath=SUMS)
def _update_row(q, sigma, least, total, moment, i, scratch, e):  # pragma: no cover
    m = len(q)
    low = q[0]
    for k in range(m):
        low = min(low, q[k])
    if low < least[i]:
        factor = np.exp((low - least[i]) / sigma)
        total[i] *= factor
        moment[i] *= factor
        least[i] = low
    low = least[i]
    s, a = scratch[:m], e[:m]
    for k in range(m):
        s[k] = (low - q[k]) / sigma
    exponentials(s, a)
    sum_, weighted = 0.0, 0.0
    for k in range(m):
        sum_ += a[k]
        weighted += a[k] * q[k]
    total[i] += sum_
    moment[i] += weighted


@njit(cache=True, fastmath=SUMS)
def _update_columns(q, sigma, least, total, moment, begin, scratch, e):  # pragma: no cover
    m = len(q)
    s, a = scratch[:m], e[:m]
    lows, totals, moments = least[begin : begin + m], total[begin : begin + m], moment[begin : begin + m]
    for k in range(m):
        s[k] = -abs(q[k] - lows[k]) / sigma
    exponentials(s, a)
    for k in range(m):
        below = q[k] < lows[k]
        totals[k] = totals[k] * a[k] + 1.0 if below else totals[k] + a[k]
        moments[k] = moments[k] * a[k] + q[k] if below else moments[k] + a[k] * q[k]
        lows[k] = q[k] if below else lows[k]


@njit(cache=True)
def _quotient(total, moment):  # pragma: no cover
    out = np.full(total.shape, np.inf)
    for c in range(total.shape[0]):
        for i in range(total.shape[1]):
            if total[c, i] > 0.0:
                out[c, i] = moment[c, i] / total[c, i]
    return out


@njit(cache=True)
def expected_of_queries(queries, columns, ends, form, triangular, sigma):  # pragma: no cover
    """Return the expected distance of each query to each class, shape (n_classes, n_queries)."""
    shape = (len(ends), len(queries))
    least, total, moment = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape)
    D, y = np.empty((columns.shape[0], STRETCH)), np.empty((4, STRETCH))
    q, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    for top in range(0, len(queries), ROWS):
        start = 0
        for c in range(len(ends)):
            for begin in range(start, ends[c], STRETCH):
                end = min(begin + STRETCH, ends[c])
                distances = q[: end - begin]
                for i in range(top, min(top + ROWS, len(queries))):
                    differences(D, columns, queries[i], begin, end)
                    quadratic_form(distances, D, form, triangular, y, end - begin)
                    _update_row(distances, sigma, least[c], total[c], moment[c], i, scratch, e)
            start = ends[c]
    return _quotient(total, moment)


# Not cached: numba cannot compile the caller of a generator that it has loaded from its cache. It has to if another
# process has filled the cache only halfway.
@njit
def _class_tiles(ends):  # pragma: no cover
    # (top, bottom, begin, end, c, d): rows of class c against columns of class d >= c.
    start = 0
    for c in range(len(ends)):
        for top in range(start, ends[c], ROWS):
            bottom = min(top + ROWS, ends[c])
            left = top
            for d in range(c, len(ends)):
                for begin in range(left, ends[d], STRETCH):
                    yield top, bottom, begin, min(begin + STRETCH, ends[d]), c, d
                left = ends[d]
        start = ends[c]


@njit(cache=True)
def expected_of_training(rows, columns, ends, form, triangular, stored, is_stored, sigma):  # pragma: no cover
    """Return the same for the training rows, each left out of its own neighbours; every pair is visited once."""
    n = len(rows)
    shape = (len(ends), n)
    least, total, moment = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape)
    D, y = np.empty((columns.shape[0], STRETCH)), np.empty((4, STRETCH))
    q, scratch, e = np.empty(STRETCH), np.empty(STRETCH), np.empty(STRETCH)
    for top, bottom, begin, end, c, d in _class_tiles(ends):
        for i in range(top, bottom):
            first = max(begin, i + 1)
            if first >= end:
                continue
            if is_stored:
                distances = load(q, stored, stored, 0.0, i, first, end, n)
            else:
                distances = q[: end - first]
                differences(D, columns, rows[i], first, end)
                quadratic_form(distances, D, form, triangular, y, end - first)
            _update_row(distances, sigma, least[d], total[d], moment[d], i, scratch, e)
            _update_columns(distances, sigma, least[c], total[c], moment[c], first, scratch, e)
    return _quotient(total, moment)
