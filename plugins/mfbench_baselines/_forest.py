"""Importances of the columns in a random forest: scikit-learn's trees for the same seed, without storing them.

Columns are given by the ranks of their numbers, so that a node counts instead of sorting, and a shuffled copy of a
column needs its ranks only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit

# Numbers that differ by less do not separate two nodes; as in scikit-learn, in single precision.
GAP = np.float32(1e-7)
# A column with a smaller range is enlarged, so that this gap does not hide its differences.
SMALL_RANGE = 1e-3
LARGEST_SEED = np.iinfo(np.int32).max
# Ranks for each sample of a node, above which sorting is faster than looking for the next rank that occurs.
SPARSE = 512
# The position of a single bit, by the first six bits of its product with this number, which are different for each.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
POSITIONS = np.empty(64, dtype=np.int64)
POSITIONS[[(int(DE_BRUIJN) << k & 0xFFFFFFFFFFFFFFFF) >> 58 for k in range(64)]] = np.arange(64)


def enlarged(X: Any) -> Any:
    """Return X with each column of tiny range multiplied by a power of two, to a range above 0.5, without rounding."""
    with np.errstate(over="ignore"):
        dense = isinstance(X, np.ndarray)
        ranges = np.ptp(X, axis=0) if dense else (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    _, exponents = np.frexp(ranges)
    shifts = np.where((ranges > 0) & (ranges < SMALL_RANGE), -exponents, 0)
    if dense:
        return np.ldexp(X, shifts)
    X = X.copy()
    X.data = np.ldexp(X.data, shifts[X.indices])
    return X


@dataclass
class RankedColumns:
    """Columns of a table.

    Attributes
    ----------
    ranks : ndarray of int32, shape (n_columns, n_samples)
        Ranks among the column's different numbers, from 0.
    numbers : ndarray of float32, shape (n_columns, n_samples)
        The different numbers of each column, in ascending order; the rest of a row is 0.
    """

    ranks: NDArray[np.int32]
    numbers: NDArray[np.float32]

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> RankedColumns:
        """Return the columns of a table in single precision, as scikit-learn's trees see them.

        Raises
        ------
        ValueError
            If a number of the table exceeds single precision.
        """
        with np.errstate(over="ignore"):
            table = X.T.astype(np.float32)
        if not np.isfinite(table).all():
            raise ValueError("X contains a number too large for float32, the precision of the trees; rescale X")
        ranks, numbers = np.empty(table.shape, dtype=np.int32), np.zeros_like(table)
        for column, (rank, number) in zip(table, zip(ranks, numbers, strict=True), strict=True):
            different, rank[:] = np.unique(column, return_inverse=True)
            number[: len(different)] = different
        return cls(ranks, numbers)

    def with_shadows(self, sources: NDArray[np.intp], random: np.random.RandomState) -> RankedColumns:
        """Return these columns followed by a shuffled copy of each of the sources."""
        shadows = [random.permutation(self.ranks[j]) for j in sources]
        return RankedColumns(np.vstack([self.ranks, *shadows]), np.vstack([self.numbers, self.numbers[sources]]))

    def __getitem__(self, columns: NDArray[np.intp]) -> RankedColumns:
        return RankedColumns(self.ranks[columns], self.numbers[columns])


def forest_importances(
    columns: RankedColumns, codes: NDArray[np.intp], n_estimators: int, max_depth: int | None, seed: int
) -> NDArray[np.float64]:
    """Return ``feature_importances_`` of scikit-learn's `RandomForestClassifier` with the same parameters.

    Parameters
    ----------
    columns : RankedColumns
    codes : ndarray of shape (n_samples,)
        Class codes 0 … n_classes - 1, each of them present.
    n_estimators : int
        Number of trees.
    max_depth : int or None
        Maximum depth of a tree.
    seed : int
        The forest's ``random_state``.

    Returns
    -------
    importances : ndarray of shape (n_columns,)
        They sum to 1; all are 0 if no tree has a split.
    """
    n_columns, n = columns.ranks.shape
    random, own = np.random.RandomState(seed), np.random.RandomState()
    weights, states = np.empty((n_estimators, n), dtype=np.int32), np.empty(n_estimators, dtype=np.int64)
    for tree in range(n_estimators):
        tree_seed = random.randint(LARGEST_SEED)
        own.seed(tree_seed)
        weights[tree] = np.bincount(own.randint(0, n, n), minlength=n)
        own.seed(tree_seed)
        states[tree] = own.randint(0, LARGEST_SEED)
    depth = n if max_depth is None else int(max_depth)
    decreases = _grow(
        columns.ranks, columns.numbers, codes.astype(np.int32), int(codes.max()) + 1, weights, states, depth
    )
    decreases = decreases[decreases.any(axis=1)]
    if len(decreases) == 0:
        return np.zeros(n_columns)
    sums = decreases.sum(axis=1, keepdims=True)
    # As scikit-learn: nothing is divided by a sum that is 0, or that rounding has made negative.
    mean: NDArray[np.float64] = np.mean(decreases / np.where(sums > 0, sums, 1.0), axis=0)
    total = mean.sum()
    return mean / total if total > 0 else mean


@njit(cache=True, nogil=True)
def _grow(ranks, numbers, codes, n_classes, weights, states, max_depth):  # pragma: no cover
    """Return the decrease in impurity by column, a row for each tree."""
    n_columns, n = ranks.shape
    decreases = np.zeros((len(weights), n_columns))
    visited = max(1, int(np.sqrt(n_columns)))
    scratch = (
        np.empty(n, dtype=np.int32),
        np.zeros((n, n_classes), dtype=np.int32),
        np.zeros(n // 64 + 1, dtype=np.uint64),
    )
    for tree in range(len(weights)):
        _grow_tree(ranks, numbers, codes, weights[tree], states[tree], max_depth, visited, decreases[tree], scratch)
    return decreases


@njit(cache=True, nogil=True)
def _grow_tree(ranks, numbers, codes, weights, state, max_depth, visited, decreases, scratch):  # pragma: no cover
    n_columns, n = ranks.shape
    n_classes = scratch[1].shape[1]
    samples, other = np.flatnonzero(weights).astype(np.int32), np.empty(n, dtype=np.int32)
    columns, constant = np.arange(n_columns), np.empty(n_columns, dtype=np.int64)
    total, left = np.empty(n_classes), np.empty(n_classes)
    _sum_classes(samples, codes, weights, total)
    # A node: its first and last sample, its depth, and how many columns are constant there.
    stack = np.empty((len(samples) + 2, 4), dtype=np.int64)
    impurities = np.empty(len(samples) + 2)
    stack[0], impurities[0], height = (0, len(samples), 0, 0), _impurity(total), 1
    whole = total.sum()
    while height > 0:
        height -= 1
        start, end, depth, n_constant = stack[height]
        impurity = impurities[height]
        if depth >= max_depth or end - start < 2 or impurity <= np.finfo(np.float64).eps:
            continue
        own = samples[start:end]
        _sum_classes(own, codes, weights, total)
        column, rank, n_constant, state = _best_split(
            ranks, numbers, codes, weights, own, columns, constant, n_constant, visited, total, left, state, scratch
        )
        if column < 0:
            continue
        size = _partition(ranks[column], rank, own, other)
        _sum_classes(own[:size], codes, weights, left)
        weight, weight_left = total.sum(), left.sum()
        total -= left
        weight_right = total.sum()
        below, above = _impurity(left), _impurity(total)
        gain = weight / whole * (impurity - weight_right / weight * above - weight_left / weight * below)
        if gain + np.finfo(np.float64).eps < 0.0:
            continue
        decreases[column] += weight * impurity - weight_left * below - weight_right * above
        for at, bounds, purity in ((0, (start + size, end), above), (1, (start, start + size), below)):
            stack[height + at] = (bounds[0], bounds[1], depth + 1, n_constant)
            impurities[height + at] = purity
        height += 2


@njit(cache=True, nogil=True)
def _best_split(
    ranks, numbers, codes, weights, own, columns, constant, n_known, visited, total, left, state, scratch
):  # pragma: no cover
    """Return the best split's column, -1 for none, and its last rank to the left; the constant columns; the state.

    The columns are taken in an order that is shuffled as far as needed. At the front are those that are constant in an
    ancestor, of which the ones taken here come first, and after them those that turn out to be constant here.
    """
    best, best_column, best_rank = -np.inf, -1, -1
    last, n_seen, n_new, n_taken, n_constant = len(columns), 0, 0, 0, n_known
    while last > n_constant and (n_seen < visited or n_seen <= n_new + n_taken):
        n_seen += 1
        state, number = _random(state)
        at = n_taken + number % (last - n_new - n_taken)
        if at < n_known:
            columns[n_taken], columns[at] = columns[at], columns[n_taken]
            n_taken += 1
            continue
        at += n_new
        column = columns[at]
        value, rank = _best_rank(ranks[column], numbers[column], codes, weights, own, total, left, scratch, best)
        if rank == -2:
            columns[at], columns[n_constant] = columns[n_constant], columns[at]
            n_new += 1
            n_constant += 1
            continue
        last -= 1
        columns[last], columns[at] = columns[at], columns[last]
        if value > best:
            best, best_column, best_rank = value, column, rank
    # The children expect the order in which an ancestor left the constant columns.
    columns[:n_known] = constant[:n_known]
    constant[n_known:n_constant] = columns[n_known:n_constant]
    return best_column, best_rank, n_constant, state


@njit(cache=True, nogil=True)
def _best_rank(ranks, numbers, codes, weights, own, total, left, scratch, best):  # pragma: no cover
    """Return the value of a column's first best split and its last rank to the left.

    The rank is -1 if no split is better than `best`, and -2 if the column is constant.
    """
    keys, counts, bits = scratch
    n = len(own)
    lowest, highest = ranks[own[0]], ranks[own[0]]
    for k in range(n):
        rank = ranks[own[k]]
        keys[k] = rank
        lowest, highest = min(lowest, rank), max(highest, rank)
    if numbers[highest] <= numbers[lowest] + GAP:
        return best, -2
    for k in range(n):
        counts[keys[k], codes[own[k]]] += weights[own[k]]
    n = _order(keys, n, lowest, highest, bits)
    weight, weight_left, squares_left, squares_right = 0.0, 0.0, 0.0, 0.0
    for c in range(len(total)):
        left[c] = 0.0
        weight += total[c]
        squares_right += total[c] * total[c]
    chosen, previous = -1, lowest
    for rank in keys[:n]:
        if rank > previous and numbers[rank] > numbers[previous] + GAP:
            weight_right = weight - weight_left
            # Without a division: the value cannot exceed `best`, whatever its rounding.
            enough = (best + weight * (1.0 - 1e-9)) * (weight_left * weight_right)
            if not squares_left * weight_right + squares_right * weight_left < enough:
                above = 1.0 - squares_right / (weight_right * weight_right)
                below = 1.0 - squares_left / (weight_left * weight_left)
                value = -weight_right * above - weight_left * below
                if value > best:
                    best, chosen = value, previous
        for c in range(len(total)):
            added = float(counts[rank, c])
            if added > 0.0:
                counts[rank, c] = 0
                # All of these are whole numbers, so that nothing is rounded.
                squares_left += added * (2.0 * left[c] + added)
                squares_right -= added * (2.0 * (total[c] - left[c]) - added)
                left[c] += added
                weight_left += added
        previous = rank
    return best, chosen


@njit(cache=True, nogil=True)
def _order(keys, n, lowest, highest, bits):  # pragma: no cover
    """Bring the first n ranks into ascending order, and return their number, which is less if they were repeated."""
    if highest - lowest > SPARSE * n:
        keys[:n] = np.sort(keys[:n])
        return n
    for k in range(n):
        bits[keys[k] >> 6] |= np.uint64(1) << np.uint64(keys[k] & 63)
    n_different = 0
    for word in range(lowest >> 6, (highest >> 6) + 1):
        left = bits[word]
        while left:
            lowest_bit = left & (~left + np.uint64(1))
            keys[n_different] = 64 * word + POSITIONS[(lowest_bit * DE_BRUIJN) >> np.uint64(58)]
            n_different += 1
            left ^= lowest_bit
        bits[word] = 0
    return n_different


@njit(cache=True, nogil=True)
def _partition(ranks, rank, own, other):  # pragma: no cover
    """Move the samples up to a rank to the front, and return their number."""
    size, n_right = 0, 0
    for i in own:
        if ranks[i] <= rank:
            own[size] = i
            size += 1
        else:
            other[n_right] = i
            n_right += 1
    own[size:] = other[:n_right]
    return size


@njit(cache=True, nogil=True)
def _sum_classes(own, codes, weights, total):  # pragma: no cover
    total[:] = 0.0
    for i in own:
        total[codes[i]] += weights[i]


@njit(cache=True, nogil=True)
def _impurity(total):  # pragma: no cover
    """Return the Gini impurity of a node."""
    weight, squares = 0.0, 0.0
    for c in range(len(total)):
        weight += total[c]
        squares += total[c] * total[c]
    return 1.0 - squares / (weight * weight)


@njit(cache=True, nogil=True)
def _random(state):  # pragma: no cover
    """Return the next state of a xorshift generator of 32 bits, and its lower 31 bits."""
    if state == 0:
        state = 1
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state, state & 0x7FFFFFFF
