"""The datasets of a run and the sizes of their splits as pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.suite.scores import SCORES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.run.store.formats.splits import StoredSplit


def dataset_frame(datasets: Sequence[Mapping[str, Any]], metric: str) -> pd.DataFrame:
    """Return one row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source."""
    rows = []
    for dataset in datasets:
        counts = np.bincount(dataset["truth"], minlength=len(dataset["class_names"]))
        rows.append(
            {
                "dataset": dataset["label"],
                "n_samples": dataset["n_samples"],
                "n_features": dataset["n_features"],
                "trivial_accuracy": _trivial(counts, metric),
                "classes": dict(zip(dataset["class_names"], counts.tolist(), strict=True)),
                "sha256": dataset["sha256"],
                "source": dataset["source"],
            }
        )
    columns = ["dataset", "n_samples", "n_features", "trivial_accuracy", "classes", "sha256", "source"]
    return pd.DataFrame(rows, columns=columns)


def _trivial(counts: NDArray[np.int64], metric: str) -> float:
    shares = counts / counts.sum()
    if not SCORES[metric].is_one_vs_rest:
        return float(shares.max())
    return float(np.maximum(shares, 1.0 - shares).mean())


def collections_of(datasets: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the labels of the datasets in each collection."""
    members: dict[str, list[str]] = {}
    for dataset in datasets:
        for name in dataset["collections"] or {}:
            members.setdefault(str(name), []).append(dataset["label"])
    return members


def size_frame(splits: Iterable[tuple[str, Mapping[tuple[int, int], StoredSplit]]]) -> pd.DataFrame:
    """Return one row per dataset, repeat and fold: numbers of training, validation and test rows, and of features."""
    rows = [
        {
            "dataset": dataset,
            "repeat": repeat,
            "fold": fold,
            "n_train": split.n_train,
            "n_validation": 0 if split.validation is None else len(split.validation),
            "n_test": len(split.test),
            "n_features": split.n_features,
        }
        for dataset, by_fold in splits
        for (repeat, fold), split in sorted(by_fold.items())
    ]
    columns = ["dataset", "repeat", "fold", "n_train", "n_validation", "n_test", "n_features"]
    return pd.DataFrame(rows, columns=columns)
