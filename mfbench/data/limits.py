"""The limit on tables, which is checked before a file is decoded: a small file can hold a huge table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mfbench.errors import DataError, UsageError

if TYPE_CHECKING:
    from io import BufferedIOBase
    from pathlib import Path

    from pyarrow.parquet import FileMetaData

LIMIT_VARIABLE = "MFBENCH_TABLE_GB"
LIMIT_GB = 1.0

# A value is a number of eight bytes in the end, whatever it is in the file.
_VALUE_BYTES = 8
_BLOCK = 1 << 20


def table_limit() -> int:
    """Return the limit in bytes: ``MFBENCH_TABLE_GB`` in GiB, or 1 GiB."""
    text = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise UsageError(f"{LIMIT_VARIABLE} is {text!r}: set it to a number of GiB, such as 4")
    return int(min(limit, 1e9) * 2**30)


def check_text(path: Path, handle: BufferedIOBase, separator: bytes) -> None:
    """Raise `DataError` if a text file is beyond the limit once it is decompressed."""
    limit, size, n_values = table_limit(), 0, 0
    while block := handle.read(_BLOCK):
        size += len(block)
        # A separator within quotes counts as well: this is an estimate from above, close for any table of numbers.
        n_values += block.count(separator) + max(block.count(b"\n"), block.count(b"\r"))
        _check(path, size, n_values, limit)


def check_metadata(path: Path, metadata: FileMetaData) -> None:
    """Raise `DataError` if a Parquet file without nested columns is beyond the limit, according to its metadata."""
    # The metadata of a single column are not asked for: pyarrow ends the process if they are damaged.
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    _check(path, sum(group.total_byte_size for group in groups), n_rows * metadata.num_columns, table_limit())


def _check(path: Path, size: int, n_values: int, limit: int) -> None:
    if size > limit:
        excess = f"more than {limit / 2**30:.4g} GiB of data when decompressed"
    elif n_values * _VALUE_BYTES > limit:
        excess = f"more than {limit // _VALUE_BYTES / 1e6:,.4g} million values"
    else:
        return
    raise DataError(
        f"{path} holds {excess}, the limit for a table: to read it, set {LIMIT_VARIABLE} to a larger number"
    )
