"""Columns as levels: few values are kept, numbers are cut into bins or where the classes change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_learners.discretise import Codes, bin_codes, compact, count_table, quantiles
from mfbench_learners.selectors import are_numbers

BINNINGS = ("frequency", "width", "mdl")


def levels_of(
    X: NDArray[np.float64], classes: NDArray[np.int64], binning: str, bins: int
) -> tuple[Codes, NDArray[np.int64]]:
    """Return the levels of every column as rows, and their numbers.

    A column of at most `bins` values, or two with "mdl", keeps them. Of equal frequency, a value that takes more than a
    bin has a level of its own: the zero of a count, say.
    """
    values, n_values = _few_values(X, 2 if binning == "mdl" else bins)
    codes = np.empty(X.shape, dtype=np.int64, order="F")
    many = n_values < 0
    for j in np.flatnonzero(~many):
        codes[:, j] = np.searchsorted(np.sort(values[j, : n_values[j]]), X[:, j])
    if binning == "mdl":
        columns = np.asfortranarray(X[:, many])
        codes[:, many] = _mdl_codes(columns, classes, int(classes.max()) + 1, count_table(len(X)))
    elif binning == "frequency":
        codes[:, many] = _even_codes(np.ascontiguousarray(X[:, many].T), bins).T
    else:
        codes[:, many] = bin_codes(X[:, many], bins, binning)
    return compact(codes)


def classes_of(y: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """Return class codes: those of a target from `NumberSelector`, or bins of equal frequency of its numbers."""
    if not are_numbers(y):
        return y.astype(np.int64)
    codes, _ = levels_of(y[:, None], np.zeros(len(y), dtype=np.int64), "frequency", bins)
    return np.asarray(codes[0], dtype=np.int64)


def _even_codes(rows: NDArray[np.float64], bins: int) -> NDArray[np.uint16]:
    """Cut rows into bins of equal frequency; values that fill a bin, or the end of one, are on their own."""
    codes = np.zeros(rows.shape, dtype=np.uint16)
    ordered = np.sort(rows, axis=1)
    ends = ordered[:, 0], ordered[:, -1]
    cuts = quantiles(ordered, np.arange(1, bins) / bins)
    for number, cut in enumerate(cuts):
        is_new = np.ones(len(rows), dtype=bool) if number == 0 else cut != cuts[number - 1]
        fills = (cut == ends[0]) | (cut == ends[1])
        if number + 1 < len(cuts):
            fills |= cut == cuts[number + 1]
        codes += (rows >= cut[:, None]) & is_new[:, None]
        codes += (rows > cut[:, None]) & (is_new & fills)[:, None]
    return np.asarray(codes - codes.min(axis=1, keepdims=True)) if len(rows) else codes


@njit(cache=True, nogil=True)
def _few_values(X, most):  # pragma: no cover
    """Return the values of each column that has at most `most`, and their number; -1 for other columns."""
    n, p = X.shape
    values = np.zeros((p, most))
    counts = np.zeros(p, dtype=np.int64)
    for j in range(p):
        for i in range(n):
            is_new = True
            for k in range(counts[j]):
                if values[j, k] == X[i, j]:
                    is_new = False
                    break
            if is_new:
                if counts[j] == most:
                    counts[j] = -1
                    break
                values[j, counts[j]] = X[i, j]
                counts[j] += 1
    return values, counts


@njit(cache=True, nogil=True)
def _mdl_codes(columns, classes, n_classes, table):  # pragma: no cover
    """Cut each column by Fayyad and Irani's criterion; without a cut it has one level."""
    n, p = columns.shape
    codes = np.zeros((n, p), dtype=np.int64)
    is_cut = np.zeros(n + 1, dtype=np.bool_)
    stack = np.empty((n + 1, 2), dtype=np.int64)
    left, right = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64)
    for j in range(p):
        order = np.argsort(columns[:, j])
        is_cut[:] = False
        stack[0] = 0, n
        depth = 1
        while depth:
            depth -= 1
            low, high = stack[depth]
            cut = _best_cut(columns[:, j], classes, order, low, high, left, right, table)
            if cut:
                is_cut[cut] = True
                stack[depth] = low, cut
                stack[depth + 1] = cut, high
                depth += 2
        level = 0
        for place in range(n):
            level += is_cut[place]
            codes[order[place], j] = level
    return codes


@njit(cache=True, nogil=True)
def _best_cut(column, classes, order, low, high, left, right, table):  # pragma: no cover
    """Return the place of the best cut of a part of a sorted column, or 0 if its gain does not pay for its code."""
    size = high - low
    if size < 2:
        return 0
    left[:] = 0
    right[:] = 0
    for place in range(low, high):
        right[classes[order[place]]] += 1
    total, sum_right = 0.0, 0.0
    for count in right:
        sum_right += table[count]
    total = table[size] - sum_right  # the size times the entropy
    n_all = np.count_nonzero(right)
    best, best_cut, best_price, sum_left = np.inf, 0, 0.0, 0.0
    for place in range(low + 1, high):
        moved = classes[order[place - 1]]
        sum_left += table[left[moved] + 1] - table[left[moved]]
        sum_right += table[right[moved] - 1] - table[right[moved]]
        left[moved] += 1
        right[moved] -= 1
        if column[order[place]] == column[order[place - 1]]:
            continue
        n_left = place - low
        rest_left, rest_right = table[n_left] - sum_left, table[size - n_left] - sum_right
        if rest_left + rest_right < best - 1e-9:
            best, best_cut = rest_left + rest_right, place
            entropies = np.count_nonzero(left) * rest_left / n_left
            entropies += np.count_nonzero(right) * rest_right / (size - n_left)
            # log2(3^k - 2), without overflow for many classes
            code = n_all * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0 ** -float(n_all))
            best_price = np.log2(size - 1.0) + code - n_all * total / size + entropies
    return best_cut if total - best > best_price else 0
