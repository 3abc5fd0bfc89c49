"""The mean margin of each feature over all rows nearer than some distance, or also farther: SURF and its relatives.

Targets are taken in blocks: first their distances to all rows, which determine the thresholds, then what each feature
makes of the rows within them. Time is O(m n p) for m targets, memory O(n p) and a block of distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._nearest.differences import GRID_BITS, are_constant, scale_to_range
from mfbench_margin._nearest.radius_kernels import (
    accumulate,
    accumulate_incomplete,
    fill_distances,
    own_thresholds,
    sum_of_distances,
    to_factors,
)
from mfbench_margin._nearest.search import TILE

# Targets of a block: at most this many, fewer if their distances would need more than BLOCK_BYTES.
BLOCK = 64
BLOCK_BYTES = 16 * 2**20
# A distance differs from a threshold only if they differ by more than this share of the largest possible distance.
SLACK = 4.0 * 2.0**-GRID_BITS


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
class _Layout:
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
    layout = _lay_out(X, codes, nominal)
    starts, n_classes = layout.starts, len(layout.starts) - 1
    frequency = np.diff(starts) / len(X)
    slack = SLACK * (len(layout.columns) if layout.is_complete else 1.0)
    common = np.nan if radius.own else _mean_distance(layout)
    constant = 1.0 if radius.far == "similarities" else 0.0
    total = np.zeros(len(layout.columns))
    for targets in _blocks(layout.position[samples], len(X)):
        distances = _distances(layout, targets)
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


def _lay_out(X: NDArray[np.float64], codes: NDArray[np.int64], nominal: NDArray[np.bool_]) -> _Layout:
    order = np.argsort(codes, kind="stable")
    incomplete = np.asarray(np.isnan(X).any(axis=0))
    feature_order = np.argsort(np.where(incomplete, 2, nominal), kind="stable")
    rows = X[np.ix_(order, feature_order)]
    ordered = nominal[feature_order]
    scale_to_range(rows, ordered)
    return _Layout(
        rows=rows,
        columns=np.ascontiguousarray(rows.T),
        nominal=ordered,
        position=np.argsort(order),
        starts=np.concatenate([[0], np.cumsum(np.bincount(codes))]),
        feature_order=feature_order,
        n_numeric=int(np.count_nonzero(~incomplete & ~nominal)),
        n_complete=int(np.count_nonzero(~incomplete)),
    )


def _blocks(targets: NDArray[np.intp], n_rows: int) -> list[NDArray[np.intp]]:
    step = int(max(1, min(BLOCK, BLOCK_BYTES // (8 * n_rows))))
    return [targets[begin : begin + step] for begin in range(0, len(targets), step)]


def _distances(layout: _Layout, targets: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the distances of targets to all rows; NaN to itself and where no feature is known in both.

    They are sums over the features if all values are known, otherwise means over the features known in both rows.
    """
    distances = np.empty((len(targets), len(layout.rows)))
    fill_distances(
        distances, targets, layout.rows, layout.columns, layout.nominal, layout.n_numeric, layout.n_complete,
        np.empty(TILE),
    )  # fmt: skip
    return distances


def _mean_distance(layout: _Layout) -> float:
    """Return the mean distance of all pairs of rows, each row with itself at distance 0 included."""
    n_rows = len(layout.rows)
    total, count = 0.0, n_rows
    for targets in _blocks(np.arange(n_rows), n_rows):
        part, n_pairs = sum_of_distances(_distances(layout, targets))
        total += part
        count += n_pairs
    return total / count
