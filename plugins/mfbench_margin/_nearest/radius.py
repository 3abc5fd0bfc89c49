"""The mean margin of each feature over all rows nearer than some distance, or also farther: SURF and its relatives.

Targets are taken in blocks: first their distances to all rows, which determine the thresholds, then what each feature
makes of the rows within them. Time is O(m n p) for m targets, memory O(n p) and a block of distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.differences import GRID_BITS, are_constant, scale_to_range
from mfbench_margin._nearest.search import FEATURES, TILE, add_absolute, add_unequal

# Targets of a block, which use a part of a tile of rows in turn: at most this many, fewer if their distances would need
# more than BLOCK_BYTES.
BLOCK = 64
BLOCK_BYTES = 16 * 2**20
# A distance differs from a threshold only if they differ by more than this share of the largest possible distance.
SLACK = 4.0 * 2.0**-GRID_BITS
# Sums over rows may be taken in any order, so that they use the whole width of a processor.
SUMS = {"reassoc", "contract"}


@dataclass(frozen=True)
class Radius:
    """Which rows count for a target, and how.

    Attributes
    ----------
    own : bool
        Thresholds from the distances of the target alone: their mean, less or plus half their standard deviation.
        Otherwise all targets share the mean over all pairs of rows, each row with itself included.
    far : {"ignored", "differences", "similarities"}
        Whether rows beyond the threshold count too, and whether by their differences with the opposite sign, or by
        1 - difference.
    prior : bool
        Weight the misses of each class by its frequency in the training data; otherwise by their number within the
        threshold.
    """

    own: bool
    far: str
    prior: bool


@dataclass(frozen=True)
class Layout:
    """The training data by class; complete numeric features first, then complete nominal ones."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    position: NDArray[np.intp]
    starts: NDArray[np.int64]
    feature_order: NDArray[np.intp]
    n_numeric: int
    n_complete: int

    @property
    def is_complete(self) -> bool:
        return self.n_complete == len(self.columns)


def radius_margin(
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    nominal: NDArray[np.bool_],
    samples: NDArray[np.int64],
    radius: Radius,
) -> NDArray[np.float64]:
    """Return how much farther each feature keeps the misses than the hits within a distance, averaged over samples.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values; NaN marks an unknown one.
    codes : ndarray of int64, shape (n_samples,)
        Class codes 0 … n_classes - 1, each present.
    nominal : ndarray of bool, shape (n_features,)
        True for a feature of categories.
    samples : ndarray of int64, shape (m,)
        Training indices to average over.
    radius : Radius
        Which rows count.

    Returns
    -------
    ndarray of shape (n_features,)
        Exactly 0 where rounding errors can be the whole difference.
    """
    layout = lay_out(X, codes, nominal)
    starts, n_classes = layout.starts, len(layout.starts) - 1
    frequency = np.diff(starts) / len(X)
    slack = SLACK * (len(layout.columns) if layout.is_complete else 1.0)
    common = np.nan if radius.own else mean_distance(layout)
    constant = 1.0 if radius.far == "similarities" else 0.0
    total = np.zeros(len(layout.columns))
    for targets in blocks(layout.position[samples], len(X)):
        distances = distances_of(layout, targets)
        thresholds = np.full((len(targets), 2), common)
        if radius.own:
            own_thresholds(thresholds, distances)
        thresholds += (-slack, slack)
        if radius.far == "ignored":
            thresholds[:, 1] = np.inf
        part = np.zeros_like(total)
        if not layout.is_complete:
            accumulate_incomplete(
                part, targets, distances, thresholds, starts, frequency, radius.prior, constant, layout.columns,
                layout.nominal, layout.n_complete, np.empty((6, n_classes)),
            )  # fmt: skip
        part[: layout.n_complete] = constant * to_factors(
            distances, targets, thresholds, starts, frequency, radius.prior, np.empty((4, n_classes))
        )
        accumulate(part, distances, targets, layout.rows, layout.columns, layout.n_numeric, layout.n_complete)
        total += part
    # A feature that does not vary has the similarity 1 to every row, which says nothing about it.
    total[are_constant(layout.rows)] = 0.0
    weights = np.empty_like(total)
    weights[layout.feature_order] = total / len(samples)
    # Sums of at most n + m numbers from -1 to 1: what the rounding errors alone can amount to has no sign.
    weights[np.abs(weights) <= np.finfo(float).eps * (len(X) + len(samples))] = 0.0
    return weights


def lay_out(X: NDArray[np.float64], codes: NDArray[np.int64], nominal: NDArray[np.bool_]) -> Layout:
    order = np.argsort(codes, kind="stable")
    incomplete = np.asarray(np.isnan(X).any(axis=0))
    feature_order = np.argsort(np.where(incomplete, 2, nominal), kind="stable")
    rows = X[np.ix_(order, feature_order)]
    ordered = nominal[feature_order]
    scale_to_range(rows, ordered)
    return Layout(
        rows=rows,
        columns=np.ascontiguousarray(rows.T),
        nominal=ordered,
        position=np.argsort(order),
        starts=np.concatenate([[0], np.cumsum(np.bincount(codes))]),
        feature_order=feature_order,
        n_numeric=int(np.count_nonzero(~incomplete & ~nominal)),
        n_complete=int(np.count_nonzero(~incomplete)),
    )


def blocks(targets: NDArray[np.intp], n_rows: int) -> list[NDArray[np.intp]]:
    step = int(max(1, min(BLOCK, BLOCK_BYTES // (8 * n_rows))))
    return [targets[begin : begin + step] for begin in range(0, len(targets), step)]


def distances_of(layout: Layout, targets: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the distances of targets to all rows; NaN to itself and where no feature is known in both.

    They are sums over the features if all values are known, otherwise means over the features known in both rows.
    """
    distances = np.empty((len(targets), len(layout.rows)))
    fill_distances(
        distances, targets, layout.rows, layout.columns, layout.nominal, layout.n_numeric, layout.n_complete,
        np.empty(TILE),
    )  # fmt: skip
    return distances


def mean_distance(layout: Layout) -> float:
    """Return the mean distance of all pairs of rows, each row with itself at distance 0 included."""
    n_rows = len(layout.rows)
    total, count = 0.0, n_rows
    for targets in blocks(np.arange(n_rows), n_rows):
        part, n_pairs = sum_of_distances(distances_of(layout, targets))
        total += part
        count += n_pairs
    return total / count


@njit(cache=True)
def fill_distances(
    distances, targets, rows, columns, nominal, n_numeric, n_complete, buffer
):  # fmt: skip  # pragma: no cover
    n_rows, n_features = rows.shape
    for begin in range(0, n_rows, TILE):
        end = min(begin + TILE, n_rows)
        in_common = buffer[: end - begin]
        distances[:, begin:end] = 0.0
        for f in range(0, n_numeric, FEATURES):
            some = columns[f : min(f + FEATURES, n_numeric)]
            for t in range(len(targets)):
                add_absolute(distances[t, begin:end], rows[targets[t], f:], some, len(some), begin, end)
        for t in range(len(targets)):
            x = rows[targets[t]]
            tile = distances[t, begin:end]
            _add_unequal(tile, x, columns, n_numeric, n_complete, begin, end)
            if n_complete < n_features:
                in_common[:] = n_complete
                for f in range(n_complete, n_features):
                    if not np.isnan(x[f]):
                        _add_known(tile, in_common, x[f], columns[f, begin:end], nominal[f])
                for j in range(len(tile)):
                    tile[j] = tile[j] / in_common[j] if in_common[j] > 0.0 else np.nan
    for t in range(len(targets)):
        distances[t, targets[t]] = np.nan


@njit(cache=True)
def _add_unequal(tile, x, columns, f, last, begin, end):  # pragma: no cover
    # Four features at a time, as in `add_absolute`.
    while f + 4 <= last:
        c0, c1 = columns[f, begin:end], columns[f + 1, begin:end]
        c2, c3 = columns[f + 2, begin:end], columns[f + 3, begin:end]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        for j in range(len(tile)):
            one = (1.0 if c0[j] != x0 else 0.0) + (1.0 if c1[j] != x1 else 0.0)
            tile[j] += one + ((1.0 if c2[j] != x2 else 0.0) + (1.0 if c3[j] != x3 else 0.0))
        f += 4
    while f < last:
        add_unequal(tile, x[f], columns[f, begin:end])
        f += 1


@njit(cache=True)
def _add_known(tile, in_common, x, column, nominal):  # pragma: no cover
    if nominal:
        for j in range(len(tile)):
            is_known = column[j] == column[j]
            in_common[j] += 1.0 if is_known else 0.0
            tile[j] += 1.0 if is_known and column[j] != x else 0.0
    else:
        for j in range(len(tile)):
            is_known = column[j] == column[j]
            in_common[j] += 1.0 if is_known else 0.0
            tile[j] += abs(column[j] - x) if is_known else 0.0


@njit(cache=True, fastmath=SUMS)
def sum_of_distances(distances):  # pragma: no cover
    """Return the sum of the distances that are numbers, and how many they are."""
    total, count = 0.0, 0
    for t in range(len(distances)):
        row, part = distances[t], 0.0
        for j in range(len(row)):
            part += row[j] if row[j] == row[j] else 0.0
            count += 1 if row[j] == row[j] else 0
        total += part
    return total, count


@njit(cache=True, fastmath=SUMS)
def own_thresholds(thresholds, distances):  # pragma: no cover
    for t in range(len(distances)):
        row = distances[t]
        total, count = sum_of_distances(distances[t : t + 1])
        count = max(count, 1)
        mean = total / count
        square = 0.0
        for j in range(len(row)):
            square += (row[j] - mean) * (row[j] - mean) if row[j] == row[j] else 0.0
        half = 0.5 * np.sqrt(square / count)
        thresholds[t, 0] = mean - half
        thresholds[t, 1] = mean + half


@njit(cache=True)
def _factors(factors, counts, own, frequency, prior):  # pragma: no cover
    """Turn the numbers of rows of each class into the factors of their differences: hits -, misses +."""
    n_classes = len(counts)
    n_misses, present = 0.0, 0.0
    for c in range(n_classes):
        if c != own and counts[c] > 0.0:
            n_misses += counts[c]
            present += frequency[c]
    for c in range(n_classes):
        if counts[c] == 0.0:
            factors[c] = 0.0
        elif c == own:
            factors[c] = -1.0 / counts[c]
        elif prior:
            factors[c] = frequency[c] / present / counts[c]
        else:
            factors[c] = (n_classes - 1) * counts[c] / (n_misses * n_misses)


@njit(cache=True)
def _class_of(row, starts):  # pragma: no cover
    return np.searchsorted(starts, row, side="right") - 1


@njit(cache=True)
def to_factors(distances, targets, thresholds, starts, frequency, prior, buffer):  # pragma: no cover
    """Replace each distance by the factor of the row's differences; return the sum of all factors of far rows.

    Distances that are not numbers are neither near nor far.
    """
    near_counts, far_counts, near_factors, far_factors = buffer
    total = 0.0
    for t in range(len(targets)):
        near, far = thresholds[t]
        for c in range(len(near_counts)):
            part = distances[t, starts[c] : starts[c + 1]]
            n_near, n_far = 0, 0
            for j in range(len(part)):
                n_near += 1 if part[j] < near else 0
                n_far += 1 if part[j] > far else 0
            near_counts[c], far_counts[c] = n_near, n_far
        own = _class_of(targets[t], starts)
        _factors(near_factors, near_counts, own, frequency, prior)
        _factors(far_factors, far_counts, own, frequency, prior)
        total += np.sum(far_factors * far_counts)
        for c in range(len(near_counts)):
            part = distances[t, starts[c] : starts[c + 1]]
            a, b = near_factors[c], -far_factors[c]
            for j in range(len(part)):
                part[j] = a if part[j] < near else (b if part[j] > far else 0.0)
    return total


@njit(cache=True, fastmath=SUMS)
def accumulate(total, factors, targets, rows, columns, n_numeric, n_complete):  # pragma: no cover
    """Add the margins of complete features: the factors of a row are the same for all of them."""
    # A part of a tile stays in the cache while all targets use it.
    for begin in range(0, len(rows), TILE):
        end = min(begin + TILE, len(rows))
        for first in range(0, n_complete, FEATURES):
            last = min(first + FEATURES, n_complete)
            middle = min(max(first, n_numeric), last)
            _accumulate_some(total, factors, targets, rows, columns, first, middle, last, begin, end)


@njit(cache=True, fastmath=SUMS)
def _accumulate_some(total, factors, targets, rows, columns, first, middle, last, begin, end):  # pragma: no cover
    # Features from `first` on are numbers, from `middle` on categories.
    n_targets, t = len(targets), 0
    # Four targets at a time: a column is loaded once for four sums.
    while t + 4 <= n_targets:
        a0, a1 = factors[t, begin:end], factors[t + 1, begin:end]
        a2, a3 = factors[t + 2, begin:end], factors[t + 3, begin:end]
        w, x = rows[targets[t]], rows[targets[t + 1]]
        y, z = rows[targets[t + 2]], rows[targets[t + 3]]
        for f in range(first, middle):
            total[f] += _four_absolute(columns[f, begin:end], a0, a1, a2, a3, w[f], x[f], y[f], z[f])
        for f in range(middle, last):
            total[f] += _four_unequal(columns[f, begin:end], a0, a1, a2, a3, w[f], x[f], y[f], z[f])
        t += 4
    while t < n_targets:
        a0, w = factors[t, begin:end], rows[targets[t]]
        for f in range(first, last):
            column, part = columns[f, begin:end], 0.0
            if f < middle:
                for j in range(len(column)):
                    part += a0[j] * abs(column[j] - w[f])
            else:
                for j in range(len(column)):
                    part += a0[j] if column[j] != w[f] else 0.0
            total[f] += part
        t += 1


@njit(cache=True, fastmath=SUMS)
def _four_absolute(column, a0, a1, a2, a3, w, x, y, z):  # pragma: no cover
    p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(column)):
        p0 += a0[j] * abs(column[j] - w)
        p1 += a1[j] * abs(column[j] - x)
        p2 += a2[j] * abs(column[j] - y)
        p3 += a3[j] * abs(column[j] - z)
    return (p0 + p1) + (p2 + p3)


@njit(cache=True, fastmath=SUMS)
def _four_unequal(column, a0, a1, a2, a3, w, x, y, z):  # pragma: no cover
    p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(column)):
        p0 += a0[j] if column[j] != w else 0.0
        p1 += a1[j] if column[j] != x else 0.0
        p2 += a2[j] if column[j] != y else 0.0
        p3 += a3[j] if column[j] != z else 0.0
    return (p0 + p1) + (p2 + p3)


@njit(cache=True, fastmath=SUMS)
def accumulate_incomplete(
    total, targets, distances, thresholds, starts, frequency, prior, constant, columns, nominal, n_complete, buffer
):  # fmt: skip  # pragma: no cover
    """Add the margins of features with unknown values: only the rows where a feature is known count for it."""
    near_counts, far_counts, near_sums, far_sums, near_factors, far_factors = buffer
    for t in range(len(targets)):
        own = _class_of(targets[t], starts)
        near, far = thresholds[t]
        for f in range(n_complete, len(columns)):
            x = columns[f, targets[t]]
            if np.isnan(x):
                continue
            for c in range(len(near_counts)):
                column, part = columns[f, starts[c] : starts[c + 1]], distances[t, starts[c] : starts[c + 1]]
                n_near, n_far, of_near, of_far = 0, 0, 0.0, 0.0
                for j in range(len(part)):
                    is_known = column[j] == column[j]
                    unequal = 1.0 if column[j] != x else 0.0
                    difference = unequal if nominal[f] else abs(column[j] - x)
                    n_near += 1 if is_known and part[j] < near else 0
                    n_far += 1 if is_known and part[j] > far else 0
                    of_near += difference if is_known and part[j] < near else 0.0
                    of_far += difference if is_known and part[j] > far else 0.0
                near_counts[c], far_counts[c], near_sums[c], far_sums[c] = n_near, n_far, of_near, of_far
            _factors(near_factors, near_counts, own, frequency, prior)
            _factors(far_factors, far_counts, own, frequency, prior)
            total[f] += np.sum(near_factors * near_sums)
            total[f] += np.sum(far_factors * (constant * far_counts - far_sums))
