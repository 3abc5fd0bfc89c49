"""The curve of one method on one dataset: a score for each fold and number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLD = ["replicate", "fold"]
"""The columns that, with dataset and method, identify the trial of a row."""


@dataclass(frozen=True)
class CurveCell:
    """One method on one dataset: a score for each fold and size."""

    sizes: NDArray[np.int64]  # numbers of features, ascending
    scores: NDArray[np.float64]  # in the metric's unit; NaN where there is no score

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean score at each size, over the folds that have a score at every size; NaN without such a fold."""
        whole = self.whole
        return whole.mean(axis=0) if len(whole) else np.full(len(self.sizes), np.nan)

    @property
    def whole(self) -> NDArray[np.float64]:
        """The scores of the folds that have a score at every size: only these compare two sizes."""
        return self.scores[np.isfinite(self.scores).all(axis=1)]


def curve_cells(curves: pd.DataFrame, metric: str) -> dict[tuple[str, str], CurveCell]:
    """Group the rows of one metric by (dataset, method), in the order of their first rows."""
    # O(n log n) for n rows.
    own = curves[curves["metric"] == metric]
    if not len(own):
        return {}
    datasets, dataset_names = pd.factorize(own["dataset"])
    methods, method_names = pd.factorize(own["method"])
    # Integers are grouped ten times as fast as pairs of texts.
    places, codes = pd.factorize(datasets * len(method_names) + methods)
    folds = own.groupby(FOLD).ngroup().to_numpy()
    sizes, scores = own["size"].to_numpy(dtype=np.int64), own["score"].to_numpy(dtype=float)
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(codes) + 1))
    cells = {}
    for number, code in enumerate(codes.tolist()):
        rows = order[bounds[number] : bounds[number + 1]]
        own_sizes, column = np.unique(sizes[rows], return_inverse=True)
        own_folds, line = np.unique(folds[rows], return_inverse=True)
        table = np.full((len(own_folds), len(own_sizes)), np.nan)
        table[line, column] = scores[rows]
        dataset, method = dataset_names[code // len(method_names)], method_names[code % len(method_names)]
        cells[str(dataset), str(method)] = CurveCell(own_sizes, table)
    return cells
