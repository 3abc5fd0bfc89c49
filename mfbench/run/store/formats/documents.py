"""The form in which content with names is stored: compressed JSON."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import Any


def pack_document(content: object) -> bytes:
    """Return plain values, arrays and data classes as compressed JSON."""
    return zlib.compress(json.dumps(content, default=plain).encode())


def unpack_document(blob: bytes) -> Any:
    """Return what `pack_document` packed, as JSON knows it."""
    return json.loads(zlib.decompress(blob))


def plain(value: Any) -> Any:
    """Convert a value for JSON: an array or a number of NumPy, the fields of a data class, or the text of another."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value.tolist() if hasattr(value, "tolist") else repr(value)
