"""The form of a bundle: its members, their rows, its manifest, and the limits that both writer and reader keep to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from mfbench.model.trials import Status
from mfbench.run.store.seals import TRIAL_COLUMNS, WHOLE

MANIFEST = "manifest.json"
METADATA = "metadata.json"
LARGEST_FILE = 2**31
"""Bytes of a bundle."""
LARGEST_CONTENT = 2**32
"""Bytes of all members together, as they are when they are unpacked."""
LARGEST_DOCUMENT = 2**23
"""Bytes of a member that is one JSON document."""
LARGEST_LINE = 2**24
"""Bytes of a row."""
LARGEST_ARRAY = 2**25
"""Bytes of an array, or of a result in JSON, as it is when it is unpacked."""
MOST_VALUES = 2**24
"""Rows or features of a dataset, and numbers of an array."""
LARGEST_TEXT = 2**22
"""Characters of a text."""
LARGEST_OUTLINE = 2**12
"""Bytes of a row without its texts."""

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Position = Annotated[int, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}\z")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}\z")]
Label = Annotated[str, Field(min_length=1, max_length=1000)]
Number = Annotated[int, Field(ge=0, le=MOST_VALUES)]
Text = Annotated[str, Field(max_length=LARGEST_TEXT)] | None
Packed = str
"""Bytes in base64."""

_KINDS: dict[str, dict[str, Any]] = {
    "datasets": dict(
        zip(WHOLE["datasets"], (Label, Hash, Number, Number, Text, Text, Text, Text, Text, Text, Packed), strict=True)
    ),
    "left_out": dict(zip(WHOLE["left_out"], (Label, str, Literal[0, 1], Literal[0, 1], str), strict=True)),
    "splits": dict(
        zip(
            WHOLE["splits"],
            (Hash, Label, Position, Position, Packed, Packed | None, Packed | None, Number, Number),
            strict=True,
        )
    ),
    "plan": dict(zip(WHOLE["plan"], (Count, Key, Label, Label, Position, Position), strict=True)),
    "trials": {
        "key": Key,
        "seed": Annotated[int, Field(ge=0, lt=2**32)],
        "status": Literal[tuple(str(status) for status in Status)],
        "n_warnings": Count | None,
        "peak_memory": Whole | None,
        "n_selected": Count | None,
    },
}
_REALS = (
    "duration", "select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall",
)  # fmt: skip
ARRAYS = ("truth", "test", "train", "validation", "selected", "weights", "predictions", "decisions")
"""Columns that are packed arrays of numbers."""
DOCUMENTS = ("interactions", "candidates", "curve")
"""Columns that are compressed JSON."""
PACKED = (*ARRAYS, *DOCUMENTS)
FREE_TEXT = ("error_message", "error_trace", "warning", "touched", "reason", "attempt", "source")
"""Columns in which methods, plugins and the system write what they like."""


def _kind_of(column: str) -> Any:
    if column in _REALS:
        return Seconds | None
    return Packed | None if column in PACKED else Text


_KINDS["trials"] = {name: _KINDS["trials"].get(name, _kind_of(name)) for name in TRIAL_COLUMNS}
COLUMNS = {table: tuple(kinds) for table, kinds in _KINDS.items()}
"""The columns of each table, in the order of the values of a row."""
ROWS: dict[str, TypeAdapter[Any]] = {
    table: TypeAdapter(tuple.__class_getitem__(tuple(kinds.values())), config=ConfigDict(strict=True))  # type: ignore[arg-type]
    for table, kinds in _KINDS.items()
}
"""What checks a row of each table."""


def _packed_places(columns: tuple[str, ...]) -> tuple[int, ...]:
    # The JSON column "interactions" of a dataset is plain text.
    return tuple(place for place, name in enumerate(columns) if name in PACKED)


PLACES = {
    table: tuple(place for place in _packed_places(columns) if (table, columns[place]) != ("datasets", "interactions"))
    for table, columns in COLUMNS.items()
}
"""The positions of the packed values in a row of each table."""
MEMBERS = (MANIFEST, METADATA, *(f"{table}.jsonl" for table in COLUMNS))
"""The names of all members: a bundle has these and no others."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Member(_Part):
    """The record of another member in the manifest."""

    sha256: Hash
    size: Annotated[int, Field(ge=0, le=LARGEST_CONTENT)]  # bytes, unpacked
    rows: Annotated[int, Field(ge=0, le=LARGEST_CONTENT)]  # lines; 0 for a document


class Manifest(_Part):
    """The content of ``manifest.json``."""

    kind: Literal["mfbench-bundle"] = "mfbench-bundle"
    format: Literal[1] = 1  # the version of the form
    mfbench: Annotated[str, Field(max_length=100)]  # the version that wrote the bundle
    # suite, run: the name of the suite, and the profile with the start of the protocol's key.
    suite: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\z", max_length=200)]
    run: Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]{1,255}\z")]
    profile: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\z", max_length=200)]
    planned: Count  # planned, results: trials of the plan, and those with a result
    results: Count
    datasets: dict[Label, Hash]  # the hash of each dataset's content
    members: dict[str, Member]  # the other members, by name
