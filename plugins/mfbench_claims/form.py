"""The format of a bundle: its members, their rows, its manifest, and the limits enforced by both writer and reader."""

from __future__ import annotations

import zlib
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Base64Bytes, BaseModel, ConfigDict, Field, TypeAdapter

from mfbench.model.trials import Status
from mfbench.run.store.checksums import TRIAL_COLUMNS, WHOLE

MANIFEST = "manifest.json"
METADATA = "metadata.json"
CRATE = "ro-crate-metadata.json"
LARGEST_FILE = 2**31
"""Maximum size of a bundle in bytes."""
LARGEST_CONTENT = 2**32
"""Maximum total size of all members in bytes, uncompressed."""
LARGEST_DOCUMENT = 2**23
"""Maximum size in bytes of a member that is one JSON document."""
LARGEST_LINE = 2**24
"""Maximum size of a row in bytes."""
LARGEST_ARRAY = 2**25
"""Maximum size in bytes of an array, or of a result in JSON, uncompressed."""
MOST_VALUES = 2**24
"""Maximum number of rows or features of a dataset, and of values in an array."""
LARGEST_TEXT = 2**22
"""Maximum length of a text in characters."""
_TYPES = (b"i1", b"i2", b"i4", b"i8", b"f8")


def _checked_array(packed: bytes) -> bytes:
    """Return packed numbers after checking that they unpack to an array of limited size."""
    if packed[:2] not in _TYPES or packed[2:3] not in (b"z", b"-"):
        raise ValueError("is not an array of numbers")
    if packed[2:3] == b"z":
        _check_size(packed[3:], min(LARGEST_ARRAY, MOST_VALUES * int(packed[1:2])))
    return packed


def _checked_document(packed: bytes) -> bytes:
    """Return compressed JSON after checking that it unpacks to a limited size."""
    _check_size(packed, LARGEST_ARRAY)
    return packed


def _check_size(compressed: bytes, largest: int) -> None:
    """Reject bytes that unpack to more than a limit, without unpacking more than that."""
    unpacking = zlib.decompressobj()
    try:
        size = len(unpacking.decompress(compressed, largest))
    except zlib.error:
        raise ValueError("cannot be decoded") from None
    if size >= largest or not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"is larger than {largest / 2**20:g} MiB, or damaged")


def _printable(label: str) -> str:
    """Return a label after checking that all its characters are printable."""
    if not label.isprintable():
        raise ValueError("has signs that cannot be printed")
    return label


Count = Annotated[int, Field(ge=0, lt=2**63)]
Position = Annotated[int, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}\z")]
Label = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)]
Number = Annotated[int, Field(ge=0, le=MOST_VALUES)]
Text = Annotated[str, Field(max_length=LARGEST_TEXT)] | None
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\z", max_length=200)]
Array = Annotated[Base64Bytes, AfterValidator(_checked_array)] | None
Document = Annotated[Base64Bytes, AfterValidator(_checked_document)] | None

_KINDS: dict[str, Any] = {
    **dict.fromkeys(("label", "dataset", "method", "protocol"), Label),
    "sha256": Hash,
    "key": Annotated[str, Field(pattern=r"^[0-9a-f]{32}\z")],
    "seed": Annotated[int, Field(ge=0, lt=2**32)],
    "status": Literal[tuple(str(status) for status in Status)],
    "position": Count,
    **dict.fromkeys(("repeat", "fold"), Position),
    **dict.fromkeys(("n_samples", "n_features", "n_train"), Number),
    **dict.fromkeys(("is_failure", "can_pull"), Literal[0, 1]),
    **dict.fromkeys(("n_warnings", "n_selected"), Count | None),
    "peak_memory": Annotated[int, Field(ge=-(2**63), lt=2**63)] | None,
    **dict.fromkeys(("duration", "tune_wall"), Seconds),
    **{f"{part}_{clock}": Seconds for part in ("select", "fit", "predict") for clock in ("wall", "cpu")},
    **dict.fromkeys(("truth", "test", "train", "validation", "selected", "weights", "predictions", "decisions"), Array),
    **dict.fromkeys(("candidates", "curve"), Document),
}
"""The type of each non-text column."""
FREE_TEXT = ("error_message", "warning", "touched", "reason", "attempt", "source")
"""Columns with free text from methods, plugins and the system."""
COLUMNS = {table: names for table, names in WHOLE.items() if table != "meta"}
# Tracebacks are excluded: their paths and lines of code may be private.
COLUMNS["trials"] = tuple(name for name in TRIAL_COLUMNS if name != "error_trace")
"""The columns of each table, in the order of a row's values."""


def _kind_of(table: str, column: str) -> Any:
    """Return the type of a column's values."""
    if (table, column) == ("trials", "interactions"):
        return Document
    return _KINDS.get(column, Text)


ROWS: dict[str, TypeAdapter[Any]] = {
    table: TypeAdapter(tuple.__class_getitem__(kinds), config=ConfigDict(strict=True))  # type: ignore[arg-type]
    for table, kinds in ((table, tuple(_kind_of(table, name) for name in names)) for table, names in COLUMNS.items())
}
"""The validator for a row of each table."""
MEMBERS = (MANIFEST, METADATA, *(f"{table}.jsonl" for table in COLUMNS))
"""The names of all members of a bundle, and of nothing else in it but the crate."""


class Manifest(BaseModel):
    """The content of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["mfbench-bundle"] = "mfbench-bundle"
    format: Literal[1] = 1  # version of the format
    mfbench: Annotated[str, Field(max_length=100)]  # version that wrote the bundle
    suite: Name
    profile: Name
    planned: Count  # planned, results: trials in the plan, and those with a result
    results: Count
    members: dict[str, Hash]  # SHA-256 checksum of each other member, by name
