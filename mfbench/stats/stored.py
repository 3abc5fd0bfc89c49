"""The store of a run, as read by the analysis: plain columns up front, arrays on demand.

Weights, selections and predictions make up nearly all of a store, but most reports do not need them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from mfbench.errors import RunError, UnknownNameError
from mfbench.run.merging import remarks_on_environments
from mfbench.run.reuse import remarks_on_reuse
from mfbench.run.store.checksums import RESULT_COLUMNS
from mfbench.run.store.file import remark_on_damage
from mfbench.run.store.formats import StoredSplit
from mfbench.run.store.store import Store
from mfbench.stats.detection import remark_on_shard
from mfbench.stats.selection import pick_candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PredictedFold(NamedTuple):
    """A fold with a method's predictions: its coordinates, test rows, and the stored trial."""

    repeat: int
    fold: int
    test: NDArray[np.int64]
    row: Mapping[str, Any]


def prediction_frame(dataset: Mapping[str, Any], folds: Iterable[PredictedFold]) -> pd.DataFrame:
    """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction."""
    return _joined(
        (fold, {"row": fold.test, "truth": dataset["truth"][fold.test], "prediction": fold.row["predictions"]})
        for fold in folds
    )


def decision_frame(dataset: Mapping[str, Any], folds: Iterable[PredictedFold]) -> pd.DataFrame:
    """Return every binary decision: columns repeat, fold, row, class, truth, decision."""
    classes = np.arange(len(dataset["class_names"]))
    if len(classes) == 2:
        classes = classes[1:]
    parts = []
    for fold in folds:
        decided = fold.row["decisions"]
        if decided is None:
            decided = (fold.row["predictions"][:, None] == classes).astype(int)
        truth = (dataset["truth"][fold.test][:, None] == classes).astype(int)
        rows = {"row": np.repeat(fold.test, len(classes)), "class": np.tile(classes, len(fold.test))}
        parts.append((fold, rows | {"truth": truth.ravel(), "decision": decided.ravel()}))
    return _joined(parts)


def _joined(parts: Iterable[tuple[PredictedFold, Mapping[str, Any]]]) -> pd.DataFrame:
    frames = [pd.DataFrame({"repeat": fold.repeat, "fold": fold.fold, **columns}) for fold, columns in parts]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


COLUMNS = (
    "status", "error_type", "error_message", "n_warnings", "warning", "touched", "duration", "scores", "select_wall",
    "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall", "peak_memory", "n_selected",
)  # fmt: skip
COORDINATES = ("dataset", "method", "repeat", "fold")
_NOT_PLAIN = ("scores", "interactions", "candidates", "curve")


def frame_of(columns: Mapping[str, list[Any]], metrics: Iterable[str]) -> pd.DataFrame:
    """Return columns of a store as a frame, with the scores expanded into a column per metric."""
    content: dict[str, Any] = {name: values for name, values in columns.items() if name not in _NOT_PLAIN}
    scores = columns["scores"]
    content |= {metric: np.array([values.get(metric, np.nan) for values in scores], dtype=float) for metric in metrics}
    return pd.DataFrame(content)


def failed_trials(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return coordinates, status and error of the trials that failed."""
    failed = outcomes[outcomes["status"].notna() & (outcomes["status"] != "ok")]
    return failed[[*COORDINATES, "status", "error_type", "error_message"]].reset_index(drop=True)


class Correctness:
    """Which test rows each method classified correctly on each dataset."""

    # From stored trials, and the classes of the test rows of each dataset's folds. A test row is one decision, or one
    # per class if each class was a separate problem.
    #
    # One pass over the trials; one byte per prediction.

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], truths: Mapping[str, Mapping[tuple[int, int], NDArray[Any]]]
    ) -> None:
        self._right: dict[tuple[str, str], list[tuple[int, int, NDArray[np.bool_]]]] = {}
        for row in rows:
            dataset, method, repeat, fold = (row[name] for name in COORDINATES)
            truth = truths.get(dataset, {}).get((repeat, fold))
            if row["predictions"] is None or truth is None:
                continue
            right = row["predictions"] == truth
            if row["decisions"] is not None:  # one decision per class
                right = (row["decisions"] == (truth[:, None] == np.arange(row["decisions"].shape[1]))).ravel()
            self._right.setdefault((dataset, method), []).append((repeat, fold, right))

    def __call__(
        self, dataset: str, method: str, folds: Collection[tuple[int, int]] | None = None
    ) -> list[NDArray[np.bool_]]:
        """Return the correctly classified test rows of each fold, in order of repeat and fold."""
        if (dataset, method) not in self._right:
            raise RunError(
                f"no predictions of {method} on {dataset} are stored; choose a test of scores, such as corrected-t"
            )
        entries = sorted(self._right[dataset, method], key=lambda entry: entry[:2])
        return [right for repeat, fold, right in entries if folds is None or (repeat, fold) in folds]


class StoredRun:
    """The contents of a run folder."""

    # If the outer folds of a dataset choose the grid point, the choice is made here: each row has the results of the
    # selected point.

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked: set[str] = set()
        with Store(path, read_only=True, checked=self._checked) as store:
            self.meta = store.meta()
            self.left_out = store.left_out()
            self.unavailable = store.unavailable()
            self.datasets = store.datasets()
            self.damaged = store.damaged
            self._absent = [] if self.meta.shard is None else self._absent_places(store)
            store.absent = self._absent
            self._has_candidates = store.has_any("candidates")
            self.has_curves = store.has_any("curve")
            if self._has_candidates:
                rows = self._resolve(store.rows((*COLUMNS, "candidates")))
                self.columns = {name: [row[name] for row in rows] for name in (*COORDINATES, "key", *COLUMNS)}
            else:
                self.columns = store.table(COLUMNS)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Every planned trial with all its stored columns."""
        with self._reopened() as store:
            return self._resolve(store.rows())

    def rows_with(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return every planned trial with at least the given columns of the store."""
        if self._has_candidates:
            return self.rows
        with self._reopened() as store:
            return list(store.rows(columns))

    def rows_having(self, column: str) -> list[dict[str, Any]]:
        """Return planned trials with at least the given column, or an empty list if no trial has a value in it."""
        with self._reopened() as store:
            present = self._has_candidates or store.has_any(column)
        return self.rows_with((column,)) if present else []

    @property
    def all_columns(self) -> dict[str, list[Any]]:
        """`columns` plus the arrays."""
        names = [name for name in (*COORDINATES, "key", "seed", *RESULT_COLUMNS) if name != "candidates"]
        return {name: [row[name] for row in self.rows] for name in names}

    @property
    def feature_numbers(self) -> dict[str, int]:
        """Number of features of each dataset."""
        return {dataset["label"]: dataset["n_features"] for dataset in self.datasets}

    @cached_property
    def remarks(self) -> list[str]:
        """Caveats for readers of a report about how the run was produced, one sentence each."""
        meta, keys = self.meta, self.columns["key"]
        results = [key for key, status in zip(keys, self.columns["status"], strict=True) if status is not None]
        n_planned, others = sum(key is not None for key in keys), meta.other_environments
        return [
            *([] if meta.shard is None else [remark_on_shard(meta.shard, self.path, n_planned)]),
            *(remarks_on_environments([meta.environment, *others]) if others else ()),
            *remarks_on_reuse(meta.reused, results),
            *remark_on_damage(self.damaged),
        ]

    @cached_property
    def correctness(self) -> Correctness:
        """Correctly classified test rows of each fold and method."""
        truths = {
            own["label"]: {place: own["truth"][split.test] for place, split in self.splits(own).items()}
            for own in self.datasets
        }
        columns = ("predictions", "decisions")
        with self._reopened() as store:
            if self._has_candidates:
                return Correctness(self._resolve(store.rows((*columns, "tune_wall", "candidates"))), truths)
            return Correctness(store.rows(columns), truths)

    def splits(self, dataset: dict[str, Any]) -> dict[tuple[int, int], StoredSplit]:
        """Return the rows of a dataset's folds by (repeat, fold)."""
        with Store(self.path, read_only=True, checked=self._checked) as store:
            return store.splits(dataset["sha256"], f"{self.meta.protocol_key}:{dataset['label']}")

    def dataset(self, label: str) -> dict[str, Any]:
        """Return the entry of `datasets` with a label."""
        labels = [dataset["label"] for dataset in self.datasets]
        if label not in labels:
            raise UnknownNameError("dataset", label, labels, owner="this run")
        return self.datasets[labels.index(label)]

    def tested_folds(self, dataset: str, method: str) -> list[PredictedFold]:
        """Return the folds of a dataset with stored predictions of a method."""
        splits = self.splits(self.dataset(dataset))
        return [
            PredictedFold(row["repeat"], row["fold"], splits[row["repeat"], row["fold"]].test, row)
            for row in self.rows
            if (row["dataset"], row["method"]) == (dataset, method) and row["predictions"] is not None
        ]

    def _absent_places(self, store: Store) -> list[tuple[str, str, int, int]]:
        """Return the trials missing from a partial run; as in an interrupted run, they have no result yet."""
        present = set(store.raw("SELECT dataset, method, repeat, fold FROM plan"))
        every = (
            (label, method, *place)
            for label in (dataset["label"] for dataset in self.datasets)
            for method in self.meta.methods
            for place in self.meta.design.coordinates(self.meta.splits.get(label))
        )
        return [place for place in every if place not in present]

    def _resolve(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        first = self.meta.protocol.metrics[0]
        return pick_candidates(rows, first, self.meta.scores[first])

    @contextmanager
    def _reopened(self) -> Iterator[Store]:
        """Reopen the store, since the suite may have been restarted with another plan."""
        with Store(self.path, read_only=True, checked=self._checked) as store:
            store.absent = self._absent
            if [*store.planned(), *(None for _ in self._absent)] != self.columns["key"]:
                raise RunError(f"the trials in {self.path} were planned again after this run was loaded; load it again")
            yield store
