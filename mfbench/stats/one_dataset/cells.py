"""The results of one method on one dataset, fold by fold, which the rules compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mfbench.errors import RunError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Decisions = Callable[[str, str], "list[NDArray[np.bool_]]"]
"""Maps the labels of a dataset and a method to the correctness of the test rows of each fold, in order."""


@dataclass(frozen=True)
class CellResults:
    """One method on one dataset, every planned fold in the order of repeats and folds."""

    scores: NDArray[np.float64]  # in the metric's unit; NaN for a failed trial
    repeats: NDArray[np.int64]
    ok: NDArray[np.bool_]  # which trials have the status ok
    # Returns for each fold which of its test rows were classified correctly.
    decisions: Callable[[], list[NDArray[np.bool_]]]

    @property
    def complete(self) -> bool:
        """Whether every planned trial has the status ok and a finite score."""
        return bool(self.ok.all() and np.isfinite(self.scores).all())

    @cached_property
    def first_repeat(self) -> NDArray[np.bool_]:
        """Which test rows of the first repeat were classified correctly; each row is tested at most once."""
        folds = self.decisions()
        return np.concatenate(
            [fold for fold, repeat in zip(folds, self.repeats, strict=True) if repeat == self.repeats[0]]
        )

    def first_test_set(self) -> NDArray[np.bool_]:
        """Return which test rows of the first fold were classified correctly."""
        return self.decisions()[0]


def results_by_cell(
    trials: pd.DataFrame, metric: str, decisions: Decisions | None = None
) -> dict[tuple[str, str], CellResults]:
    """Group a frame of trials by (dataset, method), in the order of their first rows."""
    # O(n log n) for n trials.
    if not len(trials):
        return {}
    datasets, dataset_names = pd.factorize(trials["dataset"])
    methods, method_names = pd.factorize(trials["method"])
    codes = datasets * len(method_names) + methods
    repeats = trials["repeat"].to_numpy(dtype=np.int64)
    order = np.lexsort((trials["fold"].to_numpy(), repeats, codes))
    ok = (trials["status"] == "ok").to_numpy(dtype=bool)[order]
    scores, repeats = trials[metric].to_numpy(dtype=float)[order], repeats[order]
    scores = np.where(ok, scores, np.nan)
    cell_codes, begins = np.unique(codes[order], return_index=True)
    ends = [*begins[1:], len(codes)]
    slices = {int(code): slice(begin, end) for code, begin, end in zip(cell_codes, begins, ends, strict=True)}
    cells = {}
    for code in dict.fromkeys(codes.tolist()):
        rows = slices[code]
        dataset, method = str(dataset_names[code // len(method_names)]), str(method_names[code % len(method_names)])
        cells[dataset, method] = CellResults(scores[rows], repeats[rows], ok[rows], _reader(decisions, dataset, method))
    return cells


def _reader(decisions: Decisions | None, dataset: str, method: str) -> Callable[[], list[NDArray[np.bool_]]]:
    def read() -> list[NDArray[np.bool_]]:
        if decisions is None:
            raise RunError(
                f"no predictions of {method} on {dataset} are stored; the s-test and McNemar's test need them"
            )
        return decisions(dataset, method)

    return read
