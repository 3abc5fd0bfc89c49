"""The plain results of trials as a frame, without arrays: a hundred thousand trials in about two seconds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.errors import RunError
from mfbench.run.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = (
    "status", "error_type", "error_message", "n_warnings", "warning", "touched", "duration", "scores", "select_wall",
    "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall", "peak_memory", "n_selected",
)  # fmt: skip
COORDINATES = ("dataset", "method", "repeat", "fold")
_NOT_PLAIN = ("scores", "interactions", "candidates", "curve")


def frame_of(columns: Mapping[str, list[Any]], metrics: Iterable[str]) -> pd.DataFrame:
    """Return columns of a store as a frame, with a column for each metric instead of the scores."""
    content: dict[str, Any] = {name: values for name, values in columns.items() if name not in _NOT_PLAIN}
    scores = columns["scores"]
    content |= {metric: np.array([values.get(metric, np.nan) for values in scores], dtype=float) for metric in metrics}
    return pd.DataFrame(content)


def failed_trials(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return coordinates, status and error of the trials that failed."""
    failed = outcomes[outcomes["status"].notna() & (outcomes["status"] != "ok")]
    return failed[[*COORDINATES, "status", "error_type", "error_message"]].reset_index(drop=True)


class Correctness:
    """Which test rows each method got right on each dataset, read from a store."""

    # A test row is one decision, or one for each class if each class was a problem of its own.
    #
    # One pass over the store; a byte for each prediction.

    def __init__(
        self,
        store: Store,
        datasets: Iterable[Mapping[str, Any]],
        protocol_key: str,
        chosen: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        truths = {
            entry["label"]: {
                coordinates: entry["truth"][rows.test]
                for coordinates, rows in store.splits(entry["sha256"], f"{protocol_key}:{entry['label']}").items()
            }
            for entry in datasets
        }
        replaced = {tuple(row[name] for name in COORDINATES): row["predictions"] for row in chosen}
        self._right: dict[tuple[str, str], list[tuple[int, int, NDArray[np.bool_]]]] = {}
        for row in store.rows(("predictions", "decisions")):
            dataset, method, repeat, fold = coordinates = (row["dataset"], row["method"], row["repeat"], row["fold"])
            predictions = replaced.get(coordinates, row["predictions"])
            truth = truths.get(dataset, {}).get((repeat, fold))
            if predictions is None or truth is None:
                continue
            right = predictions == truth
            if row["decisions"] is not None:  # one decision per class
                right = (row["decisions"] == (truth[:, None] == np.arange(row["decisions"].shape[1]))).ravel()
            self._right.setdefault((dataset, method), []).append((repeat, fold, right))

    def __call__(
        self, dataset: str, method: str, folds: Collection[tuple[int, int]] | None = None
    ) -> list[NDArray[np.bool_]]:
        """Return which test rows of each fold were right, in the order of repeats and folds."""
        if (dataset, method) not in self._right:
            raise RunError(
                f"no predictions of {method} on {dataset} are stored; choose a test of scores, such as corrected-t"
            )
        entries = sorted(self._right[dataset, method], key=lambda entry: entry[:2])
        return [right for repeat, fold, right in entries if folds is None or (repeat, fold) in folds]
