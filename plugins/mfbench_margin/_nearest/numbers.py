"""Margins for a target that is a number: a row is a hit of another one if their targets differ by less than a bound.

The bound of scikit-rebate is the standard deviation of the target. RReliefF has no hits: each pair counts by how much
its targets differ. As in `radius`, targets are taken in blocks: O(n² p) time, O(n p) memory and a block of distances.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.differences import are_constant
from mfbench_margin._nearest.radius import (
    SLACK,
    Layout,
    Radius,
    accumulate,
    blocks,
    distances_of,
    lay_out,
    mean_distance,
    own_thresholds,
)

# The groups of rows of a target, and the sign with which their mean difference counts; rows of group 0 do not count.
NONE, NEAR_HIT, NEAR_MISS, FAR_HIT, FAR_MISS = range(5)
SIGNS = np.array([0.0, -1.0, 1.0, 1.0, -1.0])

Grouping = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.int8]]


def radius_margin_of_numbers(
    X: NDArray[np.float64], y: NDArray[np.float64], nominal: NDArray[np.bool_], radius: Radius
) -> NDArray[np.float64]:
    """Return how much farther each feature keeps the misses than the hits within a distance, averaged over rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values; NaN marks an unknown one.
    y : ndarray of shape (n_samples,)
        Numbers, not all of them equal.
    nominal : ndarray of bool, shape (n_features,)
        True for a feature of categories.
    radius : Radius
        Which rows count; `prior` has no meaning here.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    layout = _laid_out(X, nominal)
    common = np.nan if radius.own else mean_distance(layout)
    slack = SLACK * (len(layout.columns) if layout.is_complete else 1.0)

    def groups(distances: NDArray[np.float64], hits: NDArray[np.bool_]) -> NDArray[np.int8]:
        thresholds = np.full((len(distances), 2), common)
        if radius.own:
            own_thresholds(thresholds, distances)
        near = distances < thresholds[:, :1] - slack
        far = (distances > thresholds[:, 1:] + slack) & (radius.far != "ignored")
        grouped = np.where(near, np.where(hits, NEAR_HIT, NEAR_MISS), np.where(hits, FAR_HIT, FAR_MISS))
        return np.where(near | far, grouped, NONE).astype(np.int8)

    return _margin(layout, y, np.arange(len(y)), groups, 1.0 if radius.far == "similarities" else 0.0)


def nearest_margin_of_numbers(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    nominal: NDArray[np.bool_],
    targets: NDArray[np.intp],
    n_neighbors: int,
) -> NDArray[np.float64]:
    """Return how much farther each feature keeps the nearest misses than the nearest hits, averaged over targets.

    The other parameters are those of `radius_margin_of_numbers`; a row has at most `n_neighbors` hits and as many
    misses.
    """
    layout = _laid_out(X, nominal)

    def groups(distances: NDArray[np.float64], hits: NDArray[np.bool_]) -> NDArray[np.int8]:
        order = _by_distance(layout, distances)
        is_hit = np.take_along_axis(hits, order, axis=1)
        is_known = ~np.isnan(np.take_along_axis(distances, order, axis=1))
        ranks = np.where(is_hit, np.cumsum(is_hit & is_known, axis=1), np.cumsum(~is_hit & is_known, axis=1))
        ordered = np.where(is_known & (ranks <= n_neighbors), np.where(is_hit, NEAR_HIT, NEAR_MISS), NONE)
        grouped = np.empty(distances.shape, dtype=np.int8)
        np.put_along_axis(grouped, order, ordered.astype(np.int8), axis=1)
        return grouped

    return _margin(layout, y, targets, groups, 0.0)


def regression_relief(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    nominal: NDArray[np.bool_],
    targets: NDArray[np.intp],
    n_neighbors: int,
    sigma: float | None,
) -> NDArray[np.float64]:
    """Return the weights of RReliefF.

    Parameters
    ----------
    X, y, nominal
        As in `radius_margin_of_numbers`, without unknown values.
    targets : ndarray of int, shape (m,)
        Rows to average over; repetitions count.
    n_neighbors : int
        Nearest rows of each.
    sigma : float or None
        Ranks over which their influence decays; None for equal influence.

    Returns
    -------
    ndarray of shape (n_features,)
    """
    layout = _laid_out(X, nominal)
    count = min(n_neighbors, len(X) - 1)
    ranks = np.arange(1, count + 1)
    influence = np.ones(count) if sigma is None else np.exp(-((ranks / sigma) ** 2))
    influence /= influence.sum()
    spread = float(np.ptp(y))
    differing, both, of_target = np.zeros(len(layout.columns)), np.zeros(len(layout.columns)), 0.0
    for block in blocks(targets, len(X)):
        distances = distances_of(layout, block)
        nearest = _by_distance(layout, distances)[:, :count]
        weights = np.zeros_like(distances)
        np.put_along_axis(weights, nearest, influence[None, :], axis=1)
        apart = weights * (np.abs(y[block][:, None] - y) / spread)
        of_target += float(apart.sum())
        for total, factors in ((differing, weights), (both, apart)):
            accumulate(total, factors, block, layout.rows, layout.columns, layout.n_numeric, layout.n_complete)
    result = np.empty(len(layout.columns))
    with np.errstate(invalid="ignore", divide="ignore"):
        same = (differing - both) / (len(targets) - of_target)
        result[layout.feature_order] = both / of_target - same
    return np.nan_to_num(result, nan=0.0, posinf=0.0, neginf=0.0)


def _laid_out(X: NDArray[np.float64], nominal: NDArray[np.bool_]) -> Layout:
    return lay_out(X, np.zeros(len(X), dtype=np.int64), nominal)  # one class, so rows keep their order


def _by_distance(layout: Layout, distances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return rows by distance; those equally near to about 12 digits by their index, unknown distances last."""
    unit = SLACK * (len(layout.columns) if layout.is_complete else 1.0)
    return np.argsort(np.rint(distances / unit), axis=1, kind="stable")


def _margin(
    layout: Layout, y: NDArray[np.float64], targets: NDArray[np.intp], group: Grouping, constant: float
) -> NDArray[np.float64]:
    """Return the mean over targets of the signed mean differences to the groups of other rows."""
    n_rows, bound = len(y), float(np.std(y, ddof=1))
    total = np.zeros(len(layout.columns))
    for block in blocks(targets, n_rows):
        distances = distances_of(layout, block)
        groups = group(distances, np.abs(y[block][:, None] - y) < bound)
        counts = np.array([(groups == number).sum(axis=1) for number in range(len(SIGNS))])
        shares = SIGNS[:, None] / np.maximum(counts, 1)
        factors = np.take_along_axis(shares.T, groups.astype(np.intp), axis=1)
        part = np.zeros_like(total)
        # The similarity 1 - d instead of -d adds 1 for far misses, and takes 1 for far hits.
        part[: layout.n_complete] = constant * ((counts[FAR_MISS] > 0).sum() - (counts[FAR_HIT] > 0).sum())
        accumulate(part, factors, block, layout.rows, layout.columns, layout.n_numeric, layout.n_complete)
        if not layout.is_complete:
            add_incomplete(part, block, groups, SIGNS, layout.columns, layout.nominal, layout.n_complete, constant)
        total += part
    total[are_constant(layout.rows)] = 0.0
    weights = np.empty_like(total)
    weights[layout.feature_order] = total / len(targets)
    weights[np.abs(weights) <= np.finfo(float).eps * 2 * n_rows] = 0.0
    return weights


@njit(cache=True)
def add_incomplete(total, targets, groups, signs, columns, nominal, n_complete, constant):  # pragma: no cover
    """Add the margins of features with unknown values: only the rows where a feature is known count for it."""
    for t in range(len(targets)):
        for f in range(n_complete, len(columns)):
            x = columns[f, targets[t]]
            if np.isnan(x):
                continue
            counts, sums = np.zeros(5), np.zeros(5)
            for j in range(groups.shape[1]):
                z = columns[f, j]
                if groups[t, j] > 0 and z == z:
                    counts[groups[t, j]] += 1.0
                    sums[groups[t, j]] += (1.0 if z != x else 0.0) if nominal[f] else abs(z - x)
            for g in range(1, 5):
                if counts[g] > 0.0:
                    total[f] += signs[g] * sums[g] / counts[g]
            total[f] += constant * ((1.0 if counts[4] > 0.0 else 0.0) - (1.0 if counts[3] > 0.0 else 0.0))
