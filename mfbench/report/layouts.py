"""Other layouts of a table: turned round, or with short headings and means alone."""

from __future__ import annotations

import re
import textwrap

from rich.cells import cell_len

from mfbench.model.sections import Cell, Table
from mfbench.report.cells import MARK

HEADING_WIDTH = 9
HEADING_LINES = 4
MARKED_ROLES = ("not-worse", "above", "below", "equivalent", "marked", "best-marked")
"""Roles of cells whose text ends with a mark."""
GAP = 3
"""Blanks between two columns on a terminal."""


def transposed(table: Table, heading: str) -> Table:
    """Return a table whose rows are the columns of another."""
    rows = [[Cell(name), *(row[index] for row in table.rows)] for index, name in enumerate(table.columns[1:], 1)]
    return Table([heading, *(row[0].text for row in table.rows)], rows, table.title)


def compact(table: Table) -> Table:
    """Return a table with headings of a few letters per line, and without the standard deviations."""
    rows = [[row[0], *(Cell(re.sub(r" ± [\d.]+", "", cell.text), cell.role) for cell in row[1:])] for row in table.rows]
    return Table([table.columns[0], *map(_heading, table.columns[1:])], rows, table.title, table.footer_rows)


def needed_width(table: Table) -> int:
    """Return the number of characters that a table takes on a terminal."""
    return sum(GAP + column_width(table, index) for index in range(len(table.columns))) - 1


def column_width(table: Table, index: int) -> int:
    """Return the number of characters that a column takes on a terminal, with the room for marks."""
    room = 1 + len(MARK) if index and has_marks(table) else 0
    heading = max(map(cell_len, table.columns[index].split("\n")))
    widths = (cell_len(row[index].text) + (0 if row[index].role in MARKED_ROLES else room) for row in table.rows)
    return max([heading, *widths])


def has_marks(table: Table) -> bool:
    """Return whether a cell's text ends with a mark."""
    return any(cell.role in MARKED_ROLES for row in table.rows for cell in row)


def _heading(name: str) -> str:
    lines = textwrap.wrap(name, HEADING_WIDTH) or [""]
    if len(lines) > HEADING_LINES:
        lines = [*lines[: HEADING_LINES - 1], lines[HEADING_LINES - 1][: HEADING_WIDTH - 1] + "…"]
    return "\n".join(lines)
