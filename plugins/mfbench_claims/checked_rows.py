"""The rows of a bundle, checked before they are stored: form, references to each other, and sizes of arrays."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.workers.recomputed_scores import Truth
from mfbench.suite.protocols import make_protocol
from mfbench.suite.seeds import derive_seed
from mfbench_claims.archive import RefusedError, lines
from mfbench_claims.checked_results import ResultCheck, Shape
from mfbench_claims.form import COLUMNS, ROWS
from mfbench_claims.sampling import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What content of another form raises when it is decoded.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError, zlib.error)
Row = dict[str, Any]


@dataclass(frozen=True)
class _Described:
    """What results on a dataset are compared with."""

    row: Row
    n_classes: int
    codes: NDArray[Any]
    truth: Truth


class CheckedRows:
    """Reads the tables of a bundle; each row is checked before it is given back."""

    # Tables must be read in the order of `mfbench_claims.form.COLUMNS`: later rows refer to earlier ones.

    def __init__(self, archive: zipfile.ZipFile, meta: RunMetadata) -> None:
        self._archive, self._meta = archive, meta
        try:
            protocol = make_protocol(meta.protocol.model_dump(), meta.seed)
            self._folds, self._repeats = int(protocol.folds), int(protocol.repeats)
            self._by_class = protocol.decisions == "one-vs-rest"
        except _UNREADABLE:
            raise RefusedError("its protocol is not complete") from None
        self.counts: dict[str, int] = {}
        self._datasets: dict[str, _Described] = {}
        self._samples: dict[str, int] = {}  # by the hash of a dataset
        # By split: the numbers of test rows and of features, which "timing" takes a part of, and the truth.
        self._splits: dict[tuple[str, str, int, int], tuple[int, int, Truth]] = {}
        self._planned: dict[str, Place] = {}
        self._places: set[Place] = set()
        self._results = ResultCheck(meta.protocol)

    def of(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table, by column."""
        name, number = f"{table}.jsonl", 0
        check = getattr(self, f"_check_{table}", lambda row: None)
        for number, line in enumerate(lines(self._archive, name), 1):
            try:
                row = dict(zip(COLUMNS[table], ROWS[table].validate_json(line), strict=True))
                check(row)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = first["loc"][0] if first["loc"] else None
                column = f", {COLUMNS[table][place]}" if isinstance(place, int) and place < len(COLUMNS[table]) else ""
                mistake = first["msg"].removeprefix("Value error, ")
                raise RefusedError(f"row {number} of its member {name}{column}: {mistake}") from None
            except RefusedError as refusal:
                raise RefusedError(f"row {number} of its member {name}: {refusal}") from None
            except _UNREADABLE:
                raise RefusedError(f"row {number} of its member {name} cannot be decoded") from None
            yield row
        self.counts[table] = number

    def _check_datasets(self, row: Row) -> None:
        """Check the description of a dataset."""
        label, classes = row["label"], _list_of(row, "class_names")
        for name, texts in (("class_names", classes), ("feature_names", _list_of(row, "feature_names"))):
            number = len(classes) if texts is classes else row["n_features"]
            if not all(isinstance(each, str) for each in texts) or len(texts) not in (0, number):
                raise RefusedError(f"{name} is not a list of {number:,} texts")
        collections = json.loads(row["collections"] or "{}") or {}
        if not isinstance(collections, dict) or not all(isinstance(each, str) for each in collections.values()):
            raise RefusedError("collections are not labels by name")
        codes = unpack(row["truth"])
        if len(codes) not in (0, row["n_samples"]):
            raise RefusedError(f"{label!r} has another number of classes than of rows")
        if codes.dtype.kind != "i" or (len(codes) and not 0 <= codes.min() <= codes.max() < len(classes)):
            raise RefusedError(f"the classes of {label!r} are not those of its rows")
        self._datasets[label] = _Described(row, len(classes), codes, _checked_truth(row))
        self._samples[row["sha256"]] = row["n_samples"]

    def _check_splits(self, row: Row) -> None:
        """Check the rows of a fold."""
        if row["sha256"] not in self._samples:
            raise RefusedError("it is of a dataset that the bundle does not have")
        rows = {name: unpack(row[name]) for name in ("test", "train", "validation") if row[name] is not None}
        for name, places in rows.items():
            _check_places(places, self._samples[row["sha256"]], name)
        dataset = self._datasets.get(row["protocol"].removeprefix(f"{self._meta.protocol_key}:"))
        truth = Truth() if dataset is None else dataset.truth
        if dataset is not None and len(dataset.codes) and len(rows["test"]):
            train = rows.get("train", np.arange(len(dataset.codes)))  # with the test rows, these are all rows
            truth = Truth.of_rows(dataset.codes, train, rows["test"], by_class=self._by_class)
        place = (row["sha256"], row["protocol"], row["repeat"], row["fold"])
        self._splits[place] = (len(rows["test"]), row["n_features"], truth)

    def _check_plan(self, row: Row) -> None:
        """Check a planned trial."""
        if row["dataset"] not in self._datasets or row["method"] not in self._meta.methods:
            raise RefusedError("it is of a dataset or method that the bundle does not have")
        if row["repeat"] >= self._repeats or row["fold"] >= self._folds:
            raise RefusedError("its repeat or fold is not one of the protocol")
        place = (row["dataset"], row["method"], row["repeat"], row["fold"])
        if row["key"] in self._planned or place in self._places:
            raise RefusedError("its key or its trial is there twice")
        self._planned[row["key"]] = place
        self._places.add(place)

    def _check_trials(self, row: Row) -> None:
        """Check the result of a planned trial."""
        place = self._planned.get(row["key"])
        if place is None:
            raise RefusedError("its key is not one of the plan")
        label, _, repeat, fold = place
        if row["seed"] != derive_seed(self._meta.seed, *place):
            raise RefusedError("its seed is not that of its trial")
        dataset = self._datasets[label]
        split = self._splits.get((dataset.row["sha256"], f"{self._meta.protocol_key}:{label}", repeat, fold))
        if split is None:
            raise RefusedError("the bundle does not have the split of its fold")
        n_tested, n_used, truth = split
        self._results.check(row, Shape(n_tested, n_used, dataset.row["n_features"], dataset.n_classes), truth)


def _check_places(rows: NDArray[Any], n_samples: int, name: str) -> None:
    """Check the numbers of rows of a dataset."""
    if rows.dtype.kind != "i" or (len(rows) and not 0 <= rows.min() <= rows.max() < n_samples):
        raise RefusedError(f"{name} are not among the {n_samples:,} rows of its dataset")
    if len(np.unique(rows)) < len(rows):
        raise RefusedError(f"{name} have a row twice")


def _list_of(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list, which may be missing or empty."""
    content = json.loads(row[name] or "null") or []
    if not isinstance(content, list):
        raise RefusedError(f"{name} is not a list")
    return content


def _checked_truth(row: Mapping[str, Any]) -> Truth:
    """Return what is known of a dataset's relevant features and pairs."""
    relevant, pairs = _list_of(row, "relevant"), _list_of(row, "interactions")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise RefusedError("interactions are not pairs")
    for feature in (*relevant, *(feature for pair in pairs for feature in pair)):
        if type(feature) is not int or not 0 <= feature < row["n_features"]:
            raise RefusedError("its relevant features and pairs are not features of the dataset")
    return Truth(relevant=tuple(relevant), pairs=tuple((i, j) for i, j in pairs))
