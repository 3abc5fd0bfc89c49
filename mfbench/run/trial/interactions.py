"""The weights that a fitted estimator gives to pairs of features, condensed enough to store with every trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.model.trials import Interactions

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIRS_KEPT = 64


def read_interactions(
    estimator: Any, groups: NDArray[np.intp], n_features: int, true_pairs: Sequence[tuple[int, int]] = ()
) -> Interactions | None:
    """Return the weights of pairs of original features, if an estimator has ``interaction_importances_``."""
    importances = getattr(estimator, "interaction_importances_", None)
    if importances is None:
        return None
    weights = np.asarray(importances, dtype=np.float64)
    shape = (len(groups), len(groups))
    if weights.shape != shape or not np.isfinite(weights).all():
        raise ValueError(
            f"{type(estimator).__name__} gave interaction_importances_ of shape {weights.shape} with "
            f"{int((~np.isfinite(weights)).sum())} that are not finite, expected numbers of shape {shape}"
        )
    p_values = getattr(estimator, "interaction_pvalues_", None)
    if p_values is not None and np.shape(p_values) != shape:
        raise ValueError(
            f"{type(estimator).__name__} gave interaction_pvalues_ of shape {np.shape(p_values)}, expected {shape}"
        )
    return _condense(weights, None if p_values is None else np.asarray(p_values, float), groups, n_features, true_pairs)


def _condense(
    weights: NDArray[np.float64],
    p_values: NDArray[np.float64] | None,
    groups: NDArray[np.intp],
    n_features: int,
    true_pairs: Sequence[tuple[int, int]],
) -> Interactions:
    rows, columns = np.nonzero(weights)
    first, second = np.minimum(groups[rows], groups[columns]), np.maximum(groups[rows], groups[columns])
    values = weights[rows, columns]
    # The largest entry of each pair: sorted by pair, then by size, the first of each run; equal ones in index order.
    order = np.lexsort((columns, rows, -np.abs(values), second, first))
    order = order[first[order] != second[order]]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    order = order[begins]
    order = order[np.argsort(-np.abs(values[order]), kind="stable")]
    # Pair to the position of its entry.
    entries: dict[tuple[int, int], int | None]
    entries = {(int(first[k]), int(second[k])): int(k) for k in order[:PAIRS_KEPT]}
    for one, other in true_pairs:
        pair = (min(one, other), max(one, other))
        if pair not in entries:
            matches = order[(first[order] == pair[0]) & (second[order] == pair[1])]
            entries[pair] = int(matches[0]) if len(matches) else None  # None: its weight is 0
    sizes = np.sort(np.abs(values[order]))
    n_pairs = n_features * (n_features - 1) // 2
    kept = np.array([0.0 if k is None else values[k] for k in entries.values()])
    # How many pairs weigh as much or more: ties count against a pair, so equal weights rank none of them first.
    ranks = np.where(kept == 0, n_pairs, len(sizes) - np.searchsorted(sizes, np.abs(kept), side="left"))
    return Interactions(
        pairs=np.array(list(entries), dtype=np.int64).reshape(-1, 2),
        values=kept,
        ranks=ranks.astype(np.int64),
        p_values=None
        if p_values is None
        else np.array([np.nan if k is None else p_values[rows[k], columns[k]] for k in entries.values()]),
        norm=float(np.linalg.norm(weights)),
        n_pairs=n_pairs,
    )
