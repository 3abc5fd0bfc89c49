"""Reading dense ARFF files: numeric, nominal and string attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mfbench.data.columns import MISSING, Column, check_names, open_text, to_number, to_numbers, transposed
from mfbench.errors import DataError

if TYPE_CHECKING:
    from mfbench.data.columns import Words

# 'quoted', "quoted" (a backslash escapes) or bare.
_QUOTED = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|"""
_VALUE = re.compile(r"\s*" + _QUOTED + r"""([^,'"][^,]*|))\s*(,|$)""")
_ATTRIBUTE = re.compile("@attribute\\s+" + _QUOTED + r"""([^\s'"{]+))\s*(.+)$""", re.IGNORECASE)


def read_arff(path: Path) -> list[Column]:
    """Read dense ARFF: numeric, nominal and string attributes (scipy.io.arff has no strings)."""
    # The format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
    with open_text(path, ",") as handle:
        stripped = ((number, line.strip()) for number, line in enumerate(handle, 1))
        lines = ((f"{path}, line {number}", line) for number, line in stripped if line and not line.startswith("%"))
        attributes = dict(_header(path, lines))
        columns = transposed(_rows(lines, attributes), len(attributes))
    return [
        Column(name, to_numbers(words) if levels is None else words, nominal=bool(levels))
        for (name, levels), words in zip(attributes.items(), columns, strict=True)
    ]


def _rows(lines: Iterator[tuple[str, str]], attributes: dict[str, set[str | None] | None]) -> Iterator[Words]:
    """Yield the values of each line of data."""
    for where, line in lines:
        if line.startswith("{"):
            raise DataError(f"{where}: sparse ARFF is not supported; save it as dense ARFF or CSV")
        row = _row(where, line)
        if len(row) != len(attributes):
            raise DataError(f"{where}: {len(row)} values, but the header declares {len(attributes)} attributes")
        for (name, levels), value in zip(attributes.items(), row, strict=True):
            if not _is_valid(value, levels):
                kind = "a number" if levels is None else "one of the declared values"
                raise DataError(f"{where}: {value!r} is not {kind} of attribute {name!r}")
        yield row


def _is_valid(value: str | None, levels: set[str | None] | None) -> bool:
    """Tell whether a value belongs to an attribute: a number, any text, or one of the declared values."""
    if value is None:
        return True
    return to_number(value) is not None if levels is None else not levels or value in levels


def _header(path: Path, lines: Iterator[tuple[str, str]]) -> list[tuple[str, set[str | None] | None]]:
    """Return name and levels of each attribute: None for numbers, the empty set for strings."""
    attributes: list[tuple[str, set[str | None] | None]] = []
    for where, line in lines:
        keyword, match = line.split()[0].lower(), _ATTRIBUTE.match(line)
        if keyword == "@data":
            check_names(path, [name for name, _ in attributes])
            return attributes
        if match is not None:
            name, kind = _unquote(match), match[4].strip()
            if kind.lower() in ("numeric", "real", "integer"):
                attributes.append((name, None))
            elif kind.lower() == "string":
                attributes.append((name, set()))
            elif kind.startswith("{") and kind.endswith("}"):
                attributes.append((name, set(_row(where, kind[1:-1]))))
            else:
                raise DataError(f"{where}: attribute {name!r} is of type {kind!r}, which is not supported: drop it")
        elif keyword != "@relation":
            raise DataError(f"{where}: expected @relation, @attribute or @data, not {line[:40]!r}")
    raise DataError(f"{path} has no @data line: it is empty, truncated or not an ARFF file")


def _row(where: str, line: str) -> Words:
    """Return the values of a line, None for a bare ``?``."""
    values: Words = []
    position, more = 0, True
    while more:
        match = _VALUE.match(line, position)
        if match is None:
            raise DataError(f"{where}: unbalanced quotes")
        value = _unquote(match)
        values.append(None if match[3] is not None and value in MISSING else value)
        position, more = match.end(), bool(match[4])
    return values


def _unquote(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    return match[3].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
