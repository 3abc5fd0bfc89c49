"""Predictions and binary decisions for each test row, as pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PredictedFold(NamedTuple):
    """A fold with predictions of a method: its coordinates, its test rows, and the trial as stored."""

    repeat: int
    fold: int
    test: NDArray[np.int64]
    row: Mapping[str, Any]


def prediction_frame(dataset: Mapping[str, Any], folds: Iterable[PredictedFold]) -> pd.DataFrame:
    """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction."""
    frames = [
        pd.DataFrame(
            {
                "repeat": fold.repeat,
                "fold": fold.fold,
                "row": fold.test,
                "truth": dataset["truth"][fold.test],
                "prediction": fold.row["predictions"],
            }
        )
        for fold in folds
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def decision_frame(dataset: Mapping[str, Any], folds: Iterable[PredictedFold]) -> pd.DataFrame:
    """Return every binary decision: columns repeat, fold, row, class, truth, decision."""
    classes = np.arange(len(dataset["class_names"]))
    if len(classes) == 2:
        classes = classes[1:]
    frames = []
    for fold in folds:
        decided = fold.row["decisions"]
        if decided is None:
            decided = (fold.row["predictions"][:, None] == classes).astype(int)
        truth = (dataset["truth"][fold.test][:, None] == classes).astype(int)
        frames.append(
            pd.DataFrame(
                {
                    "repeat": fold.repeat,
                    "fold": fold.fold,
                    "row": np.repeat(fold.test, len(classes)),
                    "class": np.tile(classes, len(fold.test)),
                    "truth": truth.ravel(),
                    "decision": decided.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
