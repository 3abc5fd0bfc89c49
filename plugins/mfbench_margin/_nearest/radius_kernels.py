"""Compiled functions of SURF and its relatives: distances, thresholds, and the margins of each feature."""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.search import TILE, add_absolute, add_unequal

# Sums over rows may be taken in any order, so that they use the whole width of a processor.
SUMS = {"reassoc", "contract"}


@njit(cache=True)
def fill_distances(
    distances, targets, rows, columns, nominal, n_numeric, n_complete, buffer
):  # fmt: skip  # pragma: no cover
    n_rows, n_features = rows.shape
    for begin in range(0, n_rows, TILE):
        end = min(begin + TILE, n_rows)
        in_common = buffer[: end - begin]
        for t in range(len(targets)):
            x = rows[targets[t]]
            tile = distances[t, begin:end]
            tile[:] = 0.0
            add_absolute(tile, x, columns, n_numeric, begin, end)
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
    n_targets = len(targets)
    for begin in range(0, len(rows), TILE):
        end = min(begin + TILE, len(rows))
        t = 0
        # Four targets at a time: a column is loaded once for four sums.
        while t + 4 <= n_targets:
            a0, a1 = factors[t, begin:end], factors[t + 1, begin:end]
            a2, a3 = factors[t + 2, begin:end], factors[t + 3, begin:end]
            w, x = rows[targets[t]], rows[targets[t + 1]]
            y, z = rows[targets[t + 2]], rows[targets[t + 3]]
            for f in range(n_numeric):
                total[f] += _four_absolute(columns[f, begin:end], a0, a1, a2, a3, w[f], x[f], y[f], z[f])
            for f in range(n_numeric, n_complete):
                total[f] += _four_unequal(columns[f, begin:end], a0, a1, a2, a3, w[f], x[f], y[f], z[f])
            t += 4
        while t < n_targets:
            a0, w = factors[t, begin:end], rows[targets[t]]
            for f in range(n_complete):
                column, part = columns[f, begin:end], 0.0
                if f < n_numeric:
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
