"""What a report needs of a store, read without the arrays: a hundred thousand trials in about two seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.errors import RunError
from mfbench.run.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = (
    "status", "error_type", "error_message", "n_warnings", "warning", "duration", "scores", "select_wall", "fit_wall",
    "predict_wall", "tune_wall", "peak_memory", "n_selected",
)  # fmt: skip
PLACE = ("dataset", "method", "repeat", "fold")
_APART = ("scores", "interactions", "candidates")


def frame_of(columns: Mapping[str, list[Any]], metrics: Iterable[str]) -> pd.DataFrame:
    """Return columns of a store as a frame, with one for each metric in the place of the scores.

    Parameters
    ----------
    columns : mapping of str to list
        One entry per planned trial in each.
    metrics : iterable of str
    """
    content: dict[str, Any] = {name: values for name, values in columns.items() if name not in _APART}
    scores = columns["scores"]
    content |= {metric: np.array([found.get(metric, np.nan) for found in scores], dtype=float) for metric in metrics}
    return pd.DataFrame(content)


class Correctness:
    """Which decisions on test rows each method got right, by dataset, read from a store.

    A row is one decision; where each class was a problem of its own it is one for each class.

    Parameters
    ----------
    store : Store
        Open for reading.
    datasets : iterable of mapping
        As `Store.datasets`.
    protocol_key : str
        Under which the splits are stored.
    chosen : iterable of dict
        Rows whose predictions are those of a chosen candidate, and not in their column of the store.

    Notes
    -----
    One pass over the store; a byte for each prediction.
    """

    def __init__(
        self,
        store: Store,
        datasets: Iterable[Mapping[str, Any]],
        protocol_key: str,
        chosen: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        truths = {
            known["label"]: {
                place: known["truth"][rows.test]
                for place, rows in store.splits(known["sha256"], f"{protocol_key}:{known['label']}").items()
            }
            for known in datasets
        }
        replaced = {tuple(row[name] for name in PLACE): row["predictions"] for row in chosen}
        self._right: dict[tuple[str, str], list[tuple[int, int, NDArray[np.bool_]]]] = {}
        for row in store.rows(("predictions", "decisions")):
            dataset, method, repeat, fold = place = (row["dataset"], row["method"], row["repeat"], row["fold"])
            predictions = replaced.get(place, row["predictions"])
            truth = truths.get(dataset, {}).get((repeat, fold))
            if predictions is None or truth is None:
                continue
            right = predictions == truth
            if row["decisions"] is not None:  # each class was a problem of its own: a decision for each
                right = (row["decisions"] == (truth[:, None] == np.arange(row["decisions"].shape[1]))).ravel()
            self._right.setdefault((dataset, method), []).append((repeat, fold, right))

    def __call__(self, dataset: str, method: str) -> list[NDArray[np.bool_]]:
        """Return what was right in the test rows of each fold, in the order of repeats and folds.

        Raises
        ------
        RunError
            If the run has no predictions of this cell.
        """
        if (dataset, method) not in self._right:
            raise RunError(
                f"no predictions of {method} on {dataset} are stored; choose a test of scores, as corrected-t"
            )
        return [right for _, _, right in sorted(self._right[dataset, method], key=lambda entry: entry[:2])]
