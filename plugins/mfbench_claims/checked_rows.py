"""The rows of a bundle, checked before they are stored: form, references to each other, and sizes of arrays."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.formats.interactions import unpack_interactions
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.workers.recomputed_scores import Truth
from mfbench.suite.protocols import make_protocol
from mfbench.suite.seeds import derive_seed
from mfbench_claims.archive import Archive, RefusedError
from mfbench_claims.checked_results import ResultCheck, Shape
from mfbench_claims.form import COLUMNS, DOCUMENTS, LARGEST_ARRAY, LARGEST_OUTLINE, MOST_VALUES, PLACES, ROWS, Manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READERS = {"interactions": unpack_interactions, "candidates": unpack_candidates, "curve": unpack_curve}
_NUMBERS = (b"i1", b"i2", b"i4", b"i8", b"f8")
# What content of another form raises when it is decoded.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError, zlib.error)
Row = tuple[Any, ...]


class CheckedRows:
    """Reads the tables of a bundle; each row is checked before it is given back."""

    # Tables must be read in the order of `mfbench_claims.form.COLUMNS`: later rows refer to earlier ones.

    def __init__(self, archive: Archive, manifest: Manifest, meta: RunMetadata) -> None:
        self._archive, self._manifest, self._meta = archive, manifest, meta
        try:
            protocol = make_protocol(meta.protocol.model_dump(), meta.seed)
            self._folds, self._repeats = int(protocol.folds), int(protocol.repeats)
            self._by_class = protocol.decisions == "one-vs-rest"
        except _UNREADABLE:
            raise RefusedError("its protocol is not complete") from None
        self._hashes: dict[str, str] = {}
        self._features: dict[str, int] = {}
        self._classes: dict[str, int] = {}
        self._samples: dict[str, int] = {}
        self._codes: dict[str, NDArray[Any]] = {}
        # By dataset: what is known about its features.
        self._relevant: dict[str, Truth] = {}
        # By split: the numbers of test rows and of features, which "timing" takes a part of, and the truth.
        self._tested: dict[tuple[str, str, int, int], tuple[int, int, Truth]] = {}
        self._planned: dict[str, tuple[str, str, int, int]] = {}
        self._places: set[tuple[str, str, int, int]] = set()
        self._stored: set[str] = set()
        self._results = ResultCheck(meta.protocol)

    def of(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table as the store has them."""
        name = f"{table}.jsonl"
        check = getattr(self, f"_check_{table}")
        for number, line in enumerate(self._archive.lines(name, self._manifest.members.get(name)), 1):
            try:
                _check_outline(line, len(COLUMNS[table]))
                row = self._unpacked(table, ROWS[table].validate_json(line))
                check(dict(zip(COLUMNS[table], row, strict=True)))
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                place = first["loc"][0] if first["loc"] else None
                column = f", {COLUMNS[table][place]}" if isinstance(place, int) and place < len(COLUMNS[table]) else ""
                raise RefusedError(f"row {number} of its member {name}{column}: {first['msg']}") from None
            except RefusedError as refusal:
                raise RefusedError(f"row {number} of its member {name}: {refusal}") from None
            except _UNREADABLE:
                raise RefusedError(f"row {number} of its member {name} cannot be decoded") from None
            yield row

    def _unpacked(self, table: str, values: Row) -> Row:
        row = list(values)
        for place in PLACES[table]:
            if row[place] is not None:
                row[place] = _bytes_of(row[place], COLUMNS[table][place])
        return tuple(row)

    def _check_datasets(self, row: dict[str, Any]) -> None:
        label = row["label"]
        if label in self._hashes:
            raise RefusedError(f"it has the dataset {label!r} twice")
        if self._manifest.datasets.get(label) != row["sha256"]:
            raise RefusedError(f"the hash of {label!r} is not that in the manifest")
        classes = json.loads(row["class_names"] or "null") or []
        _check_names(row, "class_names", len(classes))
        _check_names(row, "feature_names", row["n_features"])
        self._relevant[label] = _checked_truth(row)
        collections = json.loads(row["collections"] or "{}") or {}
        if not isinstance(collections, dict) or not all(isinstance(each, str) for each in collections.values()):
            raise RefusedError("collections are not labels by name")
        truth = unpack(row["truth"])
        if len(truth) not in (0, row["n_samples"]):
            raise RefusedError(f"{label!r} has another number of classes than of rows")
        if truth.dtype.kind != "i" or (len(truth) and not 0 <= truth.min() <= truth.max() < len(classes)):
            raise RefusedError(f"the classes of {label!r} are not those of its rows")
        self._codes[label] = truth
        self._hashes[label], self._features[label] = row["sha256"], row["n_features"]
        self._classes[label], self._samples[row["sha256"]] = len(classes), row["n_samples"]

    def _check_left_out(self, row: dict[str, Any]) -> None:
        """Accept it: a row of texts, which are shown and not used."""

    def _check_splits(self, row: dict[str, Any]) -> None:
        place = (row["sha256"], row["protocol"], row["repeat"], row["fold"])
        if place in self._tested:
            raise RefusedError("it has this split twice")
        if row["sha256"] not in self._hashes.values():
            raise RefusedError("it is of a dataset that the bundle does not have")
        rows = {name: unpack(row[name]) for name in ("test", "train", "validation") if row[name] is not None}
        for name, places in rows.items():
            _check_places(places, self._samples[row["sha256"]], name)
        label = row["protocol"].removeprefix(f"{self._meta.protocol_key}:")
        truth, y = self._relevant.get(label, Truth()), self._codes.get(label, np.empty(0))
        if len(y) and len(rows["test"]):
            train = rows.get("train", np.arange(len(y)))  # with the test rows, these are all rows
            truth = Truth.of_rows(y, train, rows["test"], by_class=self._by_class)
        self._tested[place] = (len(rows["test"]), row["n_features"], truth)

    def _check_plan(self, row: dict[str, Any]) -> None:
        place = (row["dataset"], row["method"], row["repeat"], row["fold"])
        if row["key"] in self._planned:
            raise RefusedError("it has this key twice")
        if row["dataset"] not in self._hashes or row["method"] not in self._meta.methods:
            raise RefusedError("it is of a dataset or method that the bundle does not have")
        if row["repeat"] >= self._repeats or row["fold"] >= self._folds:
            raise RefusedError("its repeat or fold is not one of the protocol")
        if place in self._places:
            raise RefusedError("its trial is there twice, under two keys")
        self._places.add(place)
        self._planned[row["key"]] = place

    def _check_trials(self, row: dict[str, Any]) -> None:
        place = self._planned.get(row["key"])
        if place is None:
            raise RefusedError("its key is not one of the plan")
        if row["key"] in self._stored:
            raise RefusedError("it has this key twice")
        self._stored.add(row["key"])
        dataset, _, repeat, fold = place
        if row["seed"] != derive_seed(self._meta.seed, *place):
            raise RefusedError("its seed is not that of its trial")
        split = (self._hashes[dataset], f"{self._meta.protocol_key}:{dataset}", repeat, fold)
        if split not in self._tested:
            raise RefusedError("the bundle does not have the split of its fold")
        n_tested, n_used, truth = self._tested[split]
        self._results.check(row, Shape(n_tested, n_used, self._features[dataset], self._classes[dataset]), truth)


def _check_places(rows: NDArray[Any], n_samples: int, name: str) -> None:
    if rows.dtype.kind != "i" or (len(rows) and not 0 <= rows.min() <= rows.max() < n_samples):
        raise RefusedError(f"{name} are not among the {n_samples:,} rows of its dataset")
    if len(rows) > n_samples or len(np.unique(rows)) < len(rows):
        raise RefusedError(f"{name} have a row twice")


def _check_names(row: Mapping[str, Any], name: str, number: int) -> None:
    """Check a list of texts, which may be missing or empty."""
    names = json.loads(row[name] or "null") or []
    if not isinstance(names, list):
        raise RefusedError(f"{name} is not a list")
    if not all(isinstance(each, str) for each in names) or len(names) not in (0, number):
        raise RefusedError(f"{name} is not a list of {number:,} texts")


def _checked_truth(row: Mapping[str, Any]) -> Truth:
    """Return what is known of a dataset's relevant features and pairs."""
    lists = {}
    for name, pair in (("relevant", False), ("interactions", True)):
        content = lists[name] = json.loads(row[name] or "null") or []
        if not isinstance(content, list):
            raise RefusedError(f"{name} is not a list")
        groups = content if pair else [content]
        if pair and not all(isinstance(group, list) and len(group) == 2 for group in groups):
            raise RefusedError(f"{name} are not pairs")
        if not all(type(place) is int and 0 <= place < row["n_features"] for group in groups for place in group):
            raise RefusedError(f"{name} are not features of the dataset")
    return Truth(relevant=tuple(lists["relevant"]), pairs=tuple((i, j) for i, j in lists["interactions"]))


def _bytes_of(text: str, column: str) -> bytes:
    """Return the packed bytes of a value; what they unpack to is of the right form, and not too large."""
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError(f"{column} is not base64") from None
    if column in DOCUMENTS:
        _check_size(packed, column, LARGEST_ARRAY)
        _READERS[column](packed)
        return packed
    if packed[:2] not in _NUMBERS or packed[2:3] not in (b"z", b"-"):
        raise RefusedError(f"{column} is not an array of numbers")
    if packed[2:3] == b"z":
        _check_size(packed[3:], column, min(LARGEST_ARRAY, MOST_VALUES * int(packed[1:2])))
    unpack(packed)
    return packed


def _check_size(compressed: bytes, column: str, largest: int) -> None:
    engine = zlib.decompressobj()
    size = len(engine.decompress(compressed, largest))
    if size >= largest or not engine.eof or engine.unused_data:
        raise RefusedError(f"{column} is larger than {largest / 2**20:g} MiB, or damaged")


def _check_outline(line: bytes, n_columns: int) -> None:
    """Check that a row is a few values before it is decoded: millions of empty lists need gigabytes."""
    parts = line.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"', 2 * n_columns + 1)
    if len(parts) > 2 * n_columns + 1 or sum(map(len, parts[::2])) > LARGEST_OUTLINE:
        raise RefusedError("it has more values than columns")
