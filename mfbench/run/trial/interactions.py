"""What a fitted estimator says of pairs of features, in a form small enough to store with every trial."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.trials import Interactions

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIRS_KEPT = 64


def read_interactions(
    estimator: Any, groups: NDArray[np.intp], n_features: int, known: Sequence[tuple[int, int]] = ()
) -> Interactions | None:
    """Return what an estimator that has ``interaction_importances_`` says of pairs of original features.

    Parameters
    ----------
    estimator : object
        Fitted. ``interaction_pvalues_`` is read too if there is one.
    groups : ndarray of shape (n_columns,)
        The original feature behind each column that it was fitted on. Of the entries of a pair of features, the one of
        the largest absolute value counts; entries within one feature do not.
    n_features : int
        Number of original features.
    known : sequence of (int, int), default=()
        Pairs that are kept whatever their value: the true ones, for the record alone.

    Returns
    -------
    Interactions or None
        None if the estimator says nothing.

    Raises
    ------
    ValueError
        If a matrix has another shape, or the importances are not finite.
    """
    told = getattr(estimator, "interaction_importances_", None)
    if told is None:
        return None
    weights = np.asarray(told, dtype=np.float64)
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
    return _condense(weights, None if p_values is None else np.asarray(p_values, float), groups, n_features, known)


def _condense(
    weights: NDArray[np.float64],
    p_values: NDArray[np.float64] | None,
    groups: NDArray[np.intp],
    n_features: int,
    known: Sequence[tuple[int, int]],
) -> Interactions:
    rows, columns = np.nonzero(weights)
    first, second = np.minimum(groups[rows], groups[columns]), np.maximum(groups[rows], groups[columns])
    values = weights[rows, columns]
    # The largest entry of each pair: sorted by pair, then by size, the first of each run. Equal ones in index order.
    order = np.lexsort((columns, rows, -np.abs(values), second, first))
    order = order[first[order] != second[order]]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    order = order[begins]
    order = order[np.argsort(-np.abs(values[order]), kind="stable")]
    place = {(int(first[k]), int(second[k])): k for k in order[:PAIRS_KEPT]}
    for one, other in known:
        pair = (min(one, other), max(one, other))
        if pair not in place:
            found = order[(first[order] == pair[0]) & (second[order] == pair[1])]
            place[pair] = int(found[0]) if len(found) else None  # none: its weight is 0
    sizes = np.sort(np.abs(values[order]))
    n_pairs = n_features * (n_features - 1) // 2
    kept = np.array([0.0 if k is None else values[k] for k in place.values()])
    # How many pairs weigh as much or more: ties count against, so that equal weights rank nothing first.
    ranks = np.where(kept == 0, n_pairs, len(sizes) - np.searchsorted(sizes, np.abs(kept), side="left"))
    return Interactions(
        pairs=np.array(list(place), dtype=np.int64).reshape(-1, 2),
        values=kept,
        ranks=ranks.astype(np.int64),
        p_values=None
        if p_values is None
        else np.array([np.nan if k is None else p_values[rows[k], columns[k]] for k in place.values()]),
        norm=float(np.linalg.norm(weights)),
        n_pairs=n_pairs,
    )


def interactions_to_plain(found: Interactions) -> dict[str, Any]:
    """Return plain lists and numbers, for JSON."""
    return {
        "pairs": found.pairs.tolist(),
        "values": found.values.tolist(),
        "ranks": found.ranks.tolist(),
        "p_values": None if found.p_values is None else found.p_values.tolist(),
        "norm": found.norm,
        "n_pairs": found.n_pairs,
    }


def interactions_from_plain(content: dict[str, Any]) -> Interactions:
    """Return what `interactions_to_plain` was given."""
    return Interactions(
        pairs=np.array(content["pairs"], dtype=np.int64).reshape(-1, 2),
        values=np.array(content["values"], dtype=np.float64),
        ranks=np.array(content["ranks"], dtype=np.int64),
        p_values=None if content["p_values"] is None else np.array(content["p_values"], dtype=np.float64),
        norm=content["norm"],
        n_pairs=content["n_pairs"],
    )


def pack_interactions(found: Interactions) -> bytes:
    """Return compressed JSON.

    Examples
    --------
    >>> pairs = Interactions(np.array([[0, 1]]), np.array([0.5]), np.array([1]), None, 1.0, 1)
    >>> unpack_interactions(pack_interactions(pairs)).values
    array([0.5])
    """
    return zlib.compress(json.dumps(interactions_to_plain(found)).encode())


def unpack_interactions(blob: bytes) -> Interactions:
    """Return what `pack_interactions` was given."""
    return interactions_from_plain(json.loads(zlib.decompress(blob)))
