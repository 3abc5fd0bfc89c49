"""What a ranking selects at each size: the agreement of the folds and, with ground truth, precision and recall."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.run.trial.subsets import ranking
from mfbench.stats.stability import stability_of_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = ["dataset", "method", "size", "stability", "precision", "recall", "folds"]


def ranking_figures(
    rows: Iterable[Mapping[str, Any]],
    sizes: Mapping[tuple[str, str], NDArray[np.int64]],
    relevant: Mapping[str, Sequence[int]],
    weighted: Collection[str] = (),
) -> pd.DataFrame:
    """Return what the first features of each method's rankings have in common with each other and with the truth."""
    # Methods that share a selector fit have the same weights, which are ranked once: O(p log p) for each distinct fit.
    cells: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    for row in rows:
        place = (row["dataset"], row["method"])
        if row["status"] == "ok" and row["weights"] is not None and place in sizes:
            cells.setdefault(place, []).append(row["weights"])
    figures: dict[tuple[str, bytes, bytes, bool], NDArray[np.float64]] = {}
    lines = []
    for place, weights in cells.items():
        dataset, own = place[0], np.asarray(sizes[place], dtype=np.int64)
        limits = [_number_weighing(one) for one in weights] if place[1] in weighted else None
        key = (dataset, own.tobytes(), b"".join(one.tobytes() for one in weights), limits is None)
        if key not in figures:
            figures[key] = figures_at(own, [ranking(one) for one in weights], relevant.get(dataset) or (), limits)
        for size, values in zip(own.tolist(), figures[key].tolist(), strict=True):
            lines.append([*place, size, *values, len(weights)])
    return pd.DataFrame(lines, columns=COLUMNS)


def _number_weighing(weights: NDArray[np.float64]) -> int:
    return int((weights > 0.0).sum()) or len(weights)


def figures_at(
    sizes: NDArray[np.int64],
    rankings: Sequence[NDArray[np.int64]],
    relevant: Sequence[int],
    limits: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Return stability, precision and recall at each size."""
    table = np.stack(rankings)
    n_folds, n_features = table.shape
    selectable = np.arange(n_features) < np.full(n_folds, n_features if limits is None else limits)[:, None]
    truth = np.zeros(n_features)
    truth[np.asarray(relevant, dtype=np.intp)] = 1.0
    hits = np.cumsum(truth[table] * selectable, axis=1)[:, sizes - 1]
    numbers = np.cumsum(selectable, axis=1)[:, sizes - 1]
    if not len(relevant):
        hits = np.full(hits.shape, np.nan)
    counts, begin = np.zeros(n_features), 0
    stability = np.empty(len(sizes))
    for position, size in enumerate(sizes):
        counts += np.bincount(table[:, begin:size][selectable[:, begin:size]], minlength=n_features)
        stability[position], begin = stability_of_counts(counts, n_folds), size
    # Equal numbers divide the mean, which rounds less than a mean of shares.
    precision = hits.mean(axis=0) / sizes if limits is None else (hits / numbers).mean(axis=0)
    return np.column_stack([stability, precision, hits.mean(axis=0) / max(1, len(relevant))])
