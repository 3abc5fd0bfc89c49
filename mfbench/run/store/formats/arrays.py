"""The form in which arrays of numbers are stored."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DTYPES: dict[bytes, np.dtype[Any]] = {}


def pack(array: NDArray[Any]) -> bytes:
    """Return an array of numbers as compressed bytes; whole numbers use the smallest type that holds them."""
    import numpy as np

    array = np.asarray(array)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        kind = next(k for k in ("<i1", "<i2", "<i4", "<i8") if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    else:
        kind = "<f8"
    data = array.astype(kind).tobytes()
    small = zlib.compress(data, 1)
    # The first two characters are the type, the third says whether the rest is compressed.
    return kind[-2:].encode() + (b"z" + small if len(small) < len(data) else b"-" + data)


def unpack(blob: bytes) -> NDArray[Any]:
    """Return the array that `pack` packed, as int64 if it held whole numbers, otherwise as float64."""
    import numpy as np

    kind = blob[:2]
    dtype = _DTYPES.get(kind)
    if dtype is None:
        dtype = _DTYPES[kind] = np.dtype("<" + kind.decode())
    # The type is looked up and the head is skipped without a copy: a report unpacks hundreds of thousands of arrays.
    if blob[2:3] == b"z":
        array = np.frombuffer(zlib.decompress(blob[3:]), dtype)
    else:
        array = np.frombuffer(blob, dtype, offset=3)
    return array.astype(np.float64 if dtype.kind == "f" else np.int64)
