"""The difference diff(l, a, b) of two values of a feature, and a table prepared for computing many of them.

With numeric features scaled to their range and nominal ones compared for equality, diff lies in [0, 1]. An unknown
value is replaced by its distribution within the class of its row: diff is then an expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._learner import TOO_LARGE

# Distances are compared as whole multiples of (largest possible distance) * 2**-44. Float64 sums that are equal in
# exact arithmetic differ by the order of summation alone; without this grid, such ties would be broken by rounding
# errors, and permuting or shifting features would change the neighbours.
GRID_BITS = 44


@dataclass(frozen=True)
class DiffTable:
    """Training data laid out for the kernels: rows by class, complete numeric features before all others.

    Attributes
    ----------
    order : ndarray of int64, shape (n_samples,)
        Training index of each stored row. Within a class it ascends, so that the first of several equally near rows is
        the one with the lowest training index.
    position : ndarray of int64, shape (n_samples,)
        The inverse of `order`.
    starts : ndarray of int64, shape (n_classes + 1,)
        Rows starts[c] to starts[c + 1] - 1 are those of class c.
    labels : ndarray of int64, shape (n_samples,)
        Class code of each stored row.
    feature_order : ndarray of int64, shape (n_features,)
        Original index of each stored feature.
    n_plain : int
        The first n_plain stored features are numeric and complete.
    rows : ndarray, shape (n_samples, n_features)
        The values, row by row, for summing over few neighbours.
    columns : ndarray, shape (n_features, n_samples)
        The same values, feature by feature, for distances to many rows at once.
    nominal : ndarray of bool, shape (n_features,)
        True for a stored feature of categories.
    slot : ndarray of int64, shape (n_features,)
        Index in `expected` of a stored feature with unknown values; -1 for a complete one.
    expected : ndarray, shape (n_classes, n_incomplete, n_samples)
        expected[c, slot[l], j] is the expectation of diff(l, x_j, V), V drawn from the values of feature l in class c;
        if x_j is itself unknown, its value is drawn from its own class.
    grid : float
        Distances are compared as whole multiples of 1 / grid.
    """

    order: NDArray[np.int64]
    position: NDArray[np.int64]
    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    feature_order: NDArray[np.int64]
    n_plain: int
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    nominal: NDArray[np.bool_]
    slot: NDArray[np.int64]
    expected: NDArray[np.float64]
    grid: float

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The columns in single precision."""
        return self.columns.astype(np.float32)


def build_table(
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    nominal: NDArray[np.bool_],
    *,
    scale: bool = True,
    squared: bool = False,
) -> DiffTable:
    """Lay out the training data for the kernels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values; NaN marks an unknown one.
    codes : ndarray of int, shape (n_samples,)
        Class codes 0 … n_classes - 1, each present.
    nominal : ndarray of bool, shape (n_features,)
        True for a feature of categories.
    scale : bool, default=True
        Divide the differences of a numeric feature by its range.
    squared : bool, default=False
        Whether distances will be sums of squared differences.

    Returns
    -------
    DiffTable

    Raises
    ------
    ValueError
        If the values are so large that distances overflow.

    Notes
    -----
    O(n p) time and memory if the data are complete. Each of q features with unknown values costs O(n log n) time and
    8 n bytes per class.
    """
    incomplete = np.asarray(np.isnan(X).any(axis=0))
    plain = ~nominal & ~incomplete
    feature_order = np.argsort(~plain, kind="stable")
    order = np.argsort(codes, kind="stable")
    labels = codes[order].astype(np.int64)
    nominal, incomplete = nominal[feature_order], incomplete[feature_order]

    rows = X[np.ix_(order, feature_order)]
    if scale:
        scale_to_range(rows, nominal)
    columns = np.ascontiguousarray(rows.T)
    slot = np.where(incomplete, np.cumsum(incomplete) - 1, -1)
    n_classes = int(labels[-1]) + 1
    expected = np.zeros((n_classes, int(incomplete.sum()), len(rows)))
    for feature in np.flatnonzero(incomplete):
        expect = _expect_nominal if nominal[feature] else _expect_numeric
        expected[:, slot[feature]] = expect(columns[feature], labels, n_classes)
    return DiffTable(
        order=order,
        position=np.argsort(order),
        starts=np.searchsorted(labels, np.arange(n_classes + 1)),
        labels=labels,
        feature_order=feature_order,
        n_plain=int(plain.sum()),
        rows=rows,
        columns=columns,
        nominal=nominal,
        slot=slot,
        expected=expected,
        grid=_grid(columns, scale, squared),
    )


def scale_to_range(rows: NDArray[np.float64], nominal: NDArray[np.bool_]) -> None:
    """Map each numeric column to [0, 1] in place; a constant column becomes exactly 0."""
    is_complete = ~nominal & ~np.isnan(rows).any(axis=0)
    if is_complete.all():
        rows[:] = _scaled(rows)
        return
    rows[:, is_complete] = _scaled(rows[:, is_complete])
    for feature in np.flatnonzero(~nominal & ~is_complete):
        column = rows[:, feature]
        is_known = ~np.isnan(column)
        if is_known.any():
            column[is_known] = _scaled(column[is_known])


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # A power of two changes no digit and keeps the range of very large or very small values representable.
    values = np.ldexp(values, -np.frexp(np.abs(values).max(axis=0))[1])
    low, high = values.min(axis=0), values.max(axis=0)
    scaled: NDArray[np.float64] = (values - low) / np.where(high > low, high - low, 1.0)
    return scaled


def _grid(columns: NDArray[np.float64], scale: bool, squared: bool) -> float:
    """Return how many steps of the comparison grid make up a distance of 1."""
    if scale:
        largest = float(len(columns))
    else:
        with np.errstate(over="ignore"):
            ranges = columns.max(axis=1) - columns.min(axis=1)
            largest = float(np.sum(ranges**2 if squared else ranges))
        if not np.isfinite(largest):
            raise ValueError(TOO_LARGE)
    # The bound keeps the grid itself finite if all distances are tiny.
    exponent = max(int(np.frexp(largest)[1]), -900)
    return float(np.ldexp(1.0, GRID_BITS - exponent))


def _reference(column: NDArray[np.float64], labels: NDArray[np.int64], n_classes: int) -> list[NDArray[np.float64]]:
    """Return the known values of a feature in each class; for a class without any, those of all classes."""
    is_known = ~np.isnan(column)
    values = [column[is_known & (labels == c)] for c in range(n_classes)]
    return [v if v.size else column[is_known] for v in values]


def _expect_nominal(column: NDArray[np.float64], labels: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return 1 - P(v | c) for known v, 1 - Σ_V P(V | c) P(V | c') for an unknown one of class c'."""
    is_known = ~np.isnan(column)
    categories, codes = np.unique(column[is_known], return_inverse=True)
    table = np.zeros((n_classes, len(column)))
    if not categories.size:
        return table
    frequency = np.empty((n_classes, len(categories)))
    for c, values in enumerate(_reference(column, labels, n_classes)):
        frequency[c] = np.bincount(np.searchsorted(categories, values), minlength=len(categories)) / len(values)
    table[:, is_known] = 1.0 - frequency[:, codes]
    table[:, ~is_known] = np.clip(1.0 - frequency @ frequency.T, 0.0, 1.0)[:, labels[~is_known]]
    return table


def _expect_numeric(column: NDArray[np.float64], labels: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return E|v - V| for known v, E|V' - V| for an unknown one of class c'; V, V' drawn from classes c, c'."""
    is_known = ~np.isnan(column)
    table = np.zeros((n_classes, len(column)))
    if not is_known.any():
        return table
    samples = _reference(column, labels, n_classes)
    for c, sample in enumerate(samples):
        sample = np.sort(sample)
        below = np.concatenate([[0.0], np.cumsum(sample)])
        table[c, is_known] = _mean_distance(column[is_known], sample, below)
        both = np.array([_mean_distance(other, sample, below).mean() for other in samples])
        table[c, ~is_known] = both[labels[~is_known]]
    return table


def _mean_distance(
    points: NDArray[np.float64], sample: NDArray[np.float64], below: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean |point - V| over a sorted sample, from its prefix sums, in O(log n) a point."""
    rank = np.searchsorted(sample, points)
    total = points * (2 * rank - len(sample)) + below[-1] - 2 * below[rank]
    # Rounding may leave a mean distance of zero slightly negative.
    mean: NDArray[np.float64] = np.clip(total / len(sample), 0.0, 1.0)
    return mean


def as_mask(categorical_features: Any, n_features: int) -> NDArray[np.bool_]:
    """Return categorical features as a boolean mask."""
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    features = np.asarray(categorical_features)
    if features.ndim != 1:
        raise ValueError(f"categorical_features must be one-dimensional, got shape {features.shape}")
    if features.dtype == bool:
        if len(features) != n_features:
            raise ValueError(
                f"categorical_features is a mask of length {len(features)}, but X has {n_features} features"
            )
        return features.copy()
    if features.size == 0:
        return mask
    if not np.issubdtype(features.dtype, np.integer):
        raise ValueError(f"categorical_features must hold booleans or integers, got {features.dtype}")
    if features.min() < 0 or features.max() >= n_features:
        raise ValueError(f"categorical_features must be indices from 0 to {n_features - 1}, got {features.tolist()}")
    mask[features] = True
    return mask


def are_constant(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which features have at most one known value."""
    is_known = ~np.isnan(X)
    low = np.where(is_known, X, np.inf).min(axis=0)
    high = np.where(is_known, X, -np.inf).max(axis=0)
    constant: NDArray[np.bool_] = ~(high > low)
    return constant
