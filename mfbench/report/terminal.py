"""The report on a terminal."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from mfbench.analysis.published import ABOVE, BELOW
from mfbench.analysis.results import Run
from mfbench.report.interactions import interaction_notes, interaction_tables
from mfbench.report.published import published_notes, published_tables
from mfbench.report.tables import (
    BEST,
    MARK,
    MISSING,
    NOT_WORSE,
    Cell,
    Table,
    headline,
    notes,
    score_table,
    setting,
    summary_table,
)

FOLDED = 28
STYLES = {BEST: "bold green", NOT_WORSE: "green", MISSING: "dim", ABOVE: "cyan", BELOW: "magenta"}
MARKED = (NOT_WORSE, ABOVE, BELOW)


def show(run: Run, console: Console) -> None:
    """Print the report of a run.

    Parameters
    ----------
    run : Run
        The results.
    console : rich.console.Console
        Where to print; wide tables are broken into blocks that fit its width.
    """
    console.print()
    console.print(Text(headline(run), style="bold"))
    console.print(Text(setting(run), style="dim"))
    if not len(run.outcomes):
        console.print("No trials: there was nothing to measure.")
    else:
        console.print()
        for block in blocks(score_table(run), console.width):
            console.print(_rich(block))
            console.print()
        for number, block in enumerate(blocks(summary_table(run), console.width, wrap=1)):
            console.print(_rich(block, wrap=1 if number == 0 else None))
        for table in [*published_tables(run), *interaction_tables(run)]:
            for block in blocks(table, console.width):
                console.print()
                console.print(_rich(block))
    console.print()
    for line in [*notes(run), *published_notes(run), *interaction_notes(run)]:
        console.print(Text(line), soft_wrap=False)


def blocks(table: Table, width: int, wrap: int | None = None) -> list[Table]:
    """Split a table by columns into tables that fit a width; each repeats the first column.

    Parameters
    ----------
    table : Table
    width : int
        Cells of the terminal.
    wrap : int or None, default=None
        A column that may fold, and needs no more than `FOLDED` cells.

    Returns
    -------
    list of Table
    """
    # Three blanks between columns, and in each but the first one room for the mark.
    widths = [3 + _cells(table, index) for index in range(len(table.columns))]
    if wrap is not None:
        widths[wrap] = min(widths[wrap], 3 + FOLDED)
    groups: list[list[int]] = [[]]
    room = width + 1 - widths[0]  # one blank before the first column and one after the last, where no three are
    for index in range(1, len(widths)):
        if groups[-1] and sum(widths[i] for i in groups[-1]) + widths[index] > room:
            groups.append([])
        groups[-1].append(index)
    return [
        Table(
            table.title if len(groups) == 1 else f"{table.title} ({number + 1} of {len(groups)})",
            [table.columns[0], *(table.columns[i] for i in group)],
            [[row[0], *(row[i] for i in group)] for row in table.rows],
            table.footer_rows,
        )
        for number, group in enumerate(groups)
    ]


def _rich(table: Table, wrap: int | None = None) -> RichTable:
    """Draw a table; column `wrap` may fold, the others keep to one line."""
    drawn = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(table.columns):
        left = index == 0 or index == wrap
        drawn.add_column(Text(name), justify="left" if left else "right", no_wrap=index != wrap, overflow="fold")
    first_footer = len(table.rows) - table.footer_rows
    marked = _marked(table)
    for position, row in enumerate(table.rows):
        # Numbers stand under each other only if those without the mark leave room for it.
        texts = [_text(cell, " " * (1 + len(MARK)) if marked and index else "") for index, cell in enumerate(row)]
        drawn.add_row(*texts, end_section=position == first_footer - 1)
    return drawn


def _cells(table: Table, index: int) -> int:
    room = " " * (1 + len(MARK)) if index and _marked(table) else ""
    return max([cell_len(table.columns[index]), *(cell_len(_text(row[index], room).plain) for row in table.rows)])


def _marked(table: Table) -> bool:
    return any(cell.role in MARKED for row in table.rows for cell in row)


def _text(cell: Cell, room: str = "") -> Text:
    return Text(cell.text + ("" if cell.role in MARKED else room), style=STYLES.get(cell.role, ""))
