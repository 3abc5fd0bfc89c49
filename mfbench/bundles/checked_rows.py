"""The rows of a bundle, checked before they are stored: form, references to each other, and sizes of arrays."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mfbench.bundles.archive import Archive, RefusedError
from mfbench.bundles.form import COLUMNS, DOCUMENTS, LARGEST_ARRAY, PLACES, ROWS, Manifest
from mfbench.run.formats.arrays import unpack
from mfbench.run.formats.candidates import unpack_candidates
from mfbench.run.formats.curves import unpack_curve
from mfbench.run.formats.interactions import unpack_interactions
from mfbench.run.metadata import RunMetadata
from mfbench.suite.protocols import make_protocol
from mfbench.suite.seeds import derive_seed
from mfbench.trials import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READERS = {"interactions": unpack_interactions, "candidates": unpack_candidates, "curve": unpack_curve}
_NUMBERS = (b"i1", b"i2", b"i4", b"i8", b"f8")
# What content of another form raises when it is decoded.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError, zlib.error)
_OF_FIT = ("selected", "weights", "predictions")
_OF_SUCCESS = ("scores", "predictions", "decisions", "candidates", "curve")
_LISTS = ("class_names", "feature_names", "relevant", "interactions")
Row = tuple[Any, ...]


class CheckedRows:
    """Reads the tables of a bundle; each row is checked before it is given back.

    Tables must be read in the order of `mfbench.bundles.form.COLUMNS`: later rows refer to earlier ones.

    Parameters
    ----------
    archive : Archive
    manifest : Manifest
    meta : RunMetadata
        That of the bundle.
    """

    def __init__(self, archive: Archive, manifest: Manifest, meta: RunMetadata) -> None:
        self._archive, self._manifest, self._meta = archive, manifest, meta
        try:
            protocol = make_protocol(meta.protocol.model_dump(), meta.seed)
            self._folds, self._repeats = int(protocol.folds), int(protocol.repeats)
        except _UNREADABLE:
            raise RefusedError("its protocol is not complete") from None
        self._hashes: dict[str, str] = {}
        self._features: dict[str, int] = {}
        # By split: the numbers of test rows and of features, which the protocol "timing" takes a part of.
        self._tested: dict[tuple[str, str, int, int], tuple[int, int]] = {}
        self._planned: dict[str, tuple[str, str, int, int]] = {}
        self._stored: set[str] = set()

    def of(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table as the store has them.

        Parameters
        ----------
        table : str
            A key of `COLUMNS`.

        Raises
        ------
        RefusedError
            If a row has another form, is there twice, or refers to something that the bundle does not have.
        """
        name = f"{table}.jsonl"
        check = getattr(self, f"_check_{table}")
        for number, line in enumerate(self._archive.lines(name, self._manifest.members.get(name)), 1):
            try:
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
        for name in _LISTS:
            if not isinstance(json.loads(row[name] or "null"), list | None):
                raise RefusedError(f"{name} is not a list")
        if not isinstance(json.loads(row["collections"] or "{}"), dict | None):
            raise RefusedError("collections are not labels by name")
        if len(unpack(row["truth"])) not in (0, row["n_samples"]):
            raise RefusedError(f"{label!r} has another number of classes than of rows")
        self._hashes[label], self._features[label] = row["sha256"], row["n_features"]

    def _check_left_out(self, row: dict[str, Any]) -> None:
        """Accept it: a row of texts, which are shown and not used."""

    def _check_splits(self, row: dict[str, Any]) -> None:
        place = (row["sha256"], row["protocol"], row["repeat"], row["fold"])
        if place in self._tested:
            raise RefusedError("it has this split twice")
        if row["sha256"] not in self._hashes.values():
            raise RefusedError("it is of a dataset that the bundle does not have")
        self._tested[place] = (len(unpack(row["test"])), row["n_features"])

    def _check_plan(self, row: dict[str, Any]) -> None:
        place = (row["dataset"], row["method"], row["repeat"], row["fold"])
        if row["key"] in self._planned:
            raise RefusedError("it has this key twice")
        if row["dataset"] not in self._hashes or row["method"] not in self._meta.methods:
            raise RefusedError("it is of a dataset or method that the bundle does not have")
        if row["repeat"] >= self._repeats or row["fold"] >= self._folds:
            raise RefusedError("its repeat or fold is not one of the protocol")
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
        if row["status"] != Status.OK and any(row[name] for name in _OF_SUCCESS):
            raise RefusedError("it failed, and yet has results")
        _check_scores(row["scores"])
        if not isinstance(json.loads(row["chosen"] or "{}"), dict):
            raise RefusedError("its parameters have no names")
        split = (self._hashes[dataset], f"{self._meta.protocol_key}:{dataset}", repeat, fold)
        if split not in self._tested:
            raise RefusedError("the bundle does not have the split of its fold")
        (n_tested, n_used), n_features = self._tested[split], self._features[dataset]
        arrays = {name: None if row[name] is None else unpack(row[name]) for name in _OF_FIT}
        _check_arrays(arrays, n_tested, n_used, n_features)
        if row["decisions"] is not None and (row["predictions"] is None or len(unpack(row["decisions"])) % n_tested):
            raise RefusedError("its decisions are not those of its test rows")
        pairs = [] if row["interactions"] is None else [unpack_interactions(row["interactions"])]
        for candidate in unpack_candidates(row["candidates"]) if row["candidates"] else ():
            _check_scores(json.dumps(candidate.scores))
            _check_arrays({name: getattr(candidate, name) for name in _OF_FIT}, n_tested, n_used, n_features)
            pairs += [] if candidate.interactions is None else [candidate.interactions]
        for each in pairs:
            _check_range(each.pairs, n_features, "pairs of features")
        if row["curve"] is not None:
            _check_range(unpack_curve(row["curve"]).sizes - 1, n_features, "sizes of a curve")


def _check_arrays(arrays: Mapping[str, NDArray[Any] | None], n_tested: int, n_used: int, n_features: int) -> None:
    """Check the arrays of a fit, which are about the rows of a test part and the features of a dataset."""
    for name, sizes in (("predictions", (n_tested,)), ("weights", (n_used, n_features))):
        array = arrays[name]
        if array is not None and (array.ndim != 1 or len(array) not in sizes):
            raise RefusedError(f"its {name} are not {sizes[0]:,} numbers")
    if (selected := arrays["selected"]) is not None:
        _check_range(selected, n_features, "selected features")


def _check_range(numbers: NDArray[Any], end: int, what: str) -> None:
    if numbers.dtype.kind != "i" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < end):
        raise RefusedError(f"its {what} are not among the {end:,} of its dataset")


def _check_scores(text: str | None) -> None:
    scores = json.loads(text or "{}")
    if not isinstance(scores, dict):
        raise RefusedError("its scores have no names")
    for name, value in scores.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or math.isinf(value):
            raise RefusedError(f"its score {name!r} is not a number")


def _bytes_of(text: str, column: str) -> bytes:
    """Return the packed bytes of a value; what they unpack to is of the right form, and not too large."""
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError(f"{column} is not base64") from None
    if column in DOCUMENTS:
        _check_size(packed, column)
        _READERS[column](packed)
        return packed
    if packed[:2] not in _NUMBERS or packed[2:3] not in (b"z", b"-"):
        raise RefusedError(f"{column} is not an array of numbers")
    if packed[2:3] == b"z":
        _check_size(packed[3:], column)
    unpack(packed)
    return packed


def _check_size(compressed: bytes, column: str) -> None:
    engine = zlib.decompressobj()
    size = len(engine.decompress(compressed, LARGEST_ARRAY))
    if size >= LARGEST_ARRAY or not engine.eof or engine.unused_data:
        raise RefusedError(f"{column} is larger than {LARGEST_ARRAY // 2**20} MiB, or damaged")
