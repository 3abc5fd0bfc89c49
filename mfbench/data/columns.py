"""Columns as read from a file: numbers or words, and the codes of class labels and categories."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

import numpy as np

from mfbench.data.limits import check_text
from mfbench.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = list[str | None]

T = TypeVar("T")

_VALUES_AT_ONCE = 100_000

MISSING = ("", "?", "NaN", "nan", "NAN")


@dataclass(frozen=True)
class Column:
    """One column as read: numbers with NaN, or text with None; `nominal` if the file declares it categorical."""

    name: str
    values: NDArray[np.float64] | Words
    nominal: bool = False


def open_text(path: Path, separator: str) -> TextIO:
    """Open a text file, decompressing it if its name ends in ``.gz``; raise `DataError` if it is beyond the limit."""
    zipped = path.suffix.lower() == ".gz"
    with gzip.open(path) if zipped else path.open("rb") as content:
        check_text(path, content, separator.encode())
    if zipped:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def transposed(rows: Iterable[Sequence[T]], width: int) -> list[list[T]]:
    """Return the columns of rows that have the same length."""
    # Values that are repeated in nearby rows are kept once, so a table takes little more than its distinct values.
    columns: list[list[T]] = [[] for _ in range(width)]
    remaining = iter(rows)
    while block := list(islice(remaining, 1 + _VALUES_AT_ONCE // (1 + width))):
        first: dict[T, T] = {}
        for column, cells in zip(columns, zip(*block, strict=True), strict=True):
            column.extend(map(first.setdefault, cells, cells))
    return columns


def to_words(cells: Iterable[str]) -> Words:
    """Return stripped cells, None for a missing value."""
    return [None if (word := cell.strip()) in MISSING else word for cell in cells]


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise `DataError` unless every column has a name of its own."""
    for position, name in enumerate(names, 1):
        if not name:
            raise DataError(f"column {position} of {path} has no name: name it, or drop it if it numbers the rows")
        if "\0" in name:
            raise DataError(f"{path} is not text: its header holds NUL characters; save it as UTF-8")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path} has two columns named {twice!r}: rename one of them, or add a header if there is none")


def label_codes(values: NDArray[np.float64] | Words) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return codes (NaN where missing) and the sorted labels behind them."""
    if isinstance(values, list):
        distinct = sorted({word for word in values if word is not None})
        if not np.isfinite(to_numbers(distinct)).all():
            code_of: dict[str | None, float] = {word: float(code) for code, word in enumerate(distinct)}
            return np.array([code_of.get(word, np.nan) for word in values], dtype=np.float64), tuple(distinct)
        values = to_numbers(values)
    present = ~np.isnan(values)
    levels, inverse = np.unique(values[present] + 0.0, return_inverse=True)
    codes = np.full(len(values), np.nan)
    codes[present] = inverse
    return codes, tuple(str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in levels.tolist())


def to_number(word: str) -> float | None:
    """Return the number that a word represents, or None; "1_000", which Python accepts, is not a number."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def to_numbers(words: Iterable[str | None]) -> NDArray[np.float64]:
    """Return words as numbers, with NaN for a missing word or one that is not a number."""
    numbers = (None if word is None else to_number(word) for word in words)
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
