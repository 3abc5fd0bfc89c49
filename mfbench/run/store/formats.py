"""The stored form of named content: compressed JSON."""

import dataclasses
import functools
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench.base.text import cut, plain_lines
from mfbench.model.trials import Candidate, Curve, Interactions
from mfbench.suite.protocols import Split


def pack_document(content: object) -> bytes:
    """Return plain values, arrays and data classes as compressed JSON."""
    return zlib.compress(json.dumps(content, default=plain).encode())


def unpack_document(blob: bytes) -> Any:
    """Unpack the output of `pack_document` into JSON types."""
    return json.loads(zlib.decompress(blob))


def plain(value: Any) -> Any:
    """Convert a value for JSON: arrays and NumPy numbers, data classes by their fields, other objects by their text."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value.tolist() if hasattr(value, "tolist") else repr(value)


_DTYPES: dict[bytes, np.dtype[Any]] = {}


def pack(array: NDArray[Any]) -> bytes:
    """Return a numeric array as compressed bytes; integers use the smallest type that fits."""
    array = np.asarray(array)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        kind = next(k for k in ("<i1", "<i2", "<i4", "<i8") if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    else:
        kind = "<f8"
    data = array.astype(kind).tobytes()
    small = zlib.compress(data, 1)
    # The first two characters are the type; the third states whether the rest is compressed.
    return kind[-2:].encode() + (b"z" + small if len(small) < len(data) else b"-" + data)


def unpack(blob: bytes) -> NDArray[Any]:
    """Unpack an array packed by `pack`: int64 for integers, otherwise float64."""
    kind = blob[:2]
    dtype = _DTYPES.get(kind)
    if dtype is None:
        dtype = _DTYPES[kind] = np.dtype("<" + kind.decode())
    # Types are looked up and the header is skipped without a copy, because a report unpacks hundreds of thousands of
    # arrays.
    if blob[2:3] == b"z":
        array = np.frombuffer(zlib.decompress(blob[3:]), dtype)
    else:
        array = np.frombuffer(blob, dtype, offset=3)
    return array.astype(np.float64 if dtype.kind == "f" else np.int64)


def unpack_curve(blob: bytes) -> Curve:
    """Unpack a curve packed by `pack_document`; raise `ValueError` if the content cannot be one."""
    content = unpack_document(blob)
    sizes, metrics = np.array(content["sizes"], dtype=np.int64), tuple(content["metrics"])
    ascending = sizes.ndim == 1 and len(sizes) > 0 and sizes[0] >= 1 and (np.diff(sizes) > 0).all()
    if not ascending or len(content["seconds"]) != len(sizes):
        raise ValueError("its sizes are not ascending numbers of features, each with a time")
    return Curve(
        sizes=sizes,
        metrics=metrics,
        scores=np.array(content["scores"], dtype=np.float64).reshape(len(metrics), len(sizes)),
        seconds=np.array(content["seconds"], dtype=np.float64),
        chosen=tuple(content["chosen"]),
    )


_TYPES = {"pairs": np.int64, "values": np.float64, "ranks": np.int64, "p_values": np.float64}


def interactions_from_plain(content: dict[str, Any]) -> Interactions:
    """Return the interactions with these fields, given as JSON types."""
    arrays = {name: np.array(content[name], kind) for name, kind in _TYPES.items() if content[name] is not None}
    return Interactions(**{**content, **arrays, "pairs": arrays["pairs"].reshape(-1, 2)})


def unpack_interactions(blob: bytes) -> Interactions:
    """Unpack interactions packed by `pack_document`."""
    return interactions_from_plain(unpack_document(blob))


# Predictions are class codes or numbers, as they were written.
_CANDIDATE_TYPES = {"selected": "int64", "weights": "float64", "predictions": None}


def pack_candidates(candidates: Sequence[Candidate]) -> bytes:
    """Pack candidates into compressed bytes."""
    # Grid points that differ only in the classifier share the selector's weights, and often the selected features, so
    # each distinct array is written once and referenced by its number.
    arrays: dict[str, int] = {}
    points = [plain(candidate) for candidate in candidates]
    for point in points:
        for name in _CANDIDATE_TYPES:
            if point[name] is not None:
                point[name] = arrays.setdefault(json.dumps(point[name].tolist()), len(arrays))
    return pack_document({"points": points, "arrays": list(arrays)})


def unpack_candidates(blob: bytes) -> list[Candidate]:
    """Unpack candidates packed by `pack_candidates`; candidates with equal arrays share one."""
    content = unpack_document(blob)

    @functools.cache
    def array(number: int, kind: str | None) -> NDArray[Any]:
        return np.array(json.loads(content["arrays"][number]), dtype=kind)

    for point in content["points"]:
        point |= {name: array(point[name], kind) for name, kind in _CANDIDATE_TYPES.items() if point[name] is not None}
        if point["interactions"] is not None:
            point["interactions"] = interactions_from_plain(point["interactions"])
    return [Candidate(**point) for point in content["points"]]


# Test, train and validation rows; numbers of training rows and of features.
Columns = tuple[bytes, bytes | None, bytes | None, int, int]


@dataclasses.dataclass(frozen=True)
class StoredSplit:
    """The stored rows of a fold."""

    test: NDArray[np.int64]
    train: NDArray[np.int64] | None  # None: all rows outside the test part
    validation: NDArray[np.int64] | None  # rows set aside for tuning, if the protocol does so
    n_train: int  # n_train, n_features: number of rows and of original features in the final fit
    n_features: int


def pack_split(split: Split, shape: tuple[int, int]) -> Columns:
    """Pack a split of a dataset with this number of rows and features."""
    train = None if len(split.train) + len(split.test) == shape[0] else pack(split.train)
    validation = None if split.tuning is None else pack(split.tuning[1])
    features = split.features(shape[1])
    n_features = shape[1] if features is None else len(features)
    return pack(split.test), train, validation, len(split.train), n_features


def unpack_split(
    test: bytes, train: bytes | None, validation: bytes | None, n_train: int, n_features: int
) -> StoredSplit:
    """Unpack the rows packed by `pack_split`."""
    train_rows, validation_rows = (None if blob is None else unpack(blob) for blob in (train, validation))
    return StoredSplit(unpack(test), train_rows, validation_rows, n_train, n_features)


LIMITS = {"error_type": 200, "error_message": 500, "error_trace": 4000, "warning": 500, "touched": 500, "reason": 2000}
"""Maximum length of each stored text in characters; a method can raise an error message of a megabyte."""


def stored_text(text: str, name: str) -> str:
    """Truncate a text for storage to its beginning, or to its end for a traceback."""
    limit = LIMITS.get(name, len(text))
    # Cut well before cleaning, which would take as long as the trial for a text of many megabytes.
    if name == "error_trace":
        return plain_lines(text[-limit:])[-limit:]
    return cut(plain_lines(text[: 2 * limit]), limit)
