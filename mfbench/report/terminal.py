"""The report on a terminal."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from mfbench.analysis.published import ABOVE, BELOW
from mfbench.analysis.results import Run
from mfbench.report.overall import Drawing
from mfbench.report.page import Page, page_of
from mfbench.report.tables import BEST, BEST_MARKED, MARK, MARKED, MISSING, NOT_WORSE, Cell, Table

FOLDED = 28
FIRST_FOLDED = 40
STYLES = {
    BEST: "bold green",
    BEST_MARKED: "bold green",
    NOT_WORSE: "green",
    MISSING: "dim",
    ABOVE: "cyan",
    BELOW: "magenta",
}
BESIDE_MARKS = (NOT_WORSE, ABOVE, BELOW, MARKED, BEST_MARKED)


def show(run: Run, console: Console, *, statistics: bool = False) -> None:
    """Print the report of a run.

    Parameters
    ----------
    run : Run
        The results.
    console : rich.console.Console
        Where to print; wide tables are broken into blocks that fit its width.
    statistics : bool, default=False
        Also all pairs of methods, win probabilities and the profile of times.
    """
    show_page(page_of(run, statistics=statistics), console)


def show_page(page: Page, console: Console) -> None:
    """Print a report; see `show`."""
    console.print()
    console.print(Text(page.title, style="bold"))
    console.print(Text(page.setting, style="dim"))
    if not page.parts:
        console.print("No trials: there was nothing to measure.")
    for part in page.parts:
        console.print()
        if isinstance(part, Drawing):
            console.print(Text(part.title, style="bold"))
            for line in part.draw(console.width):
                console.print(Text(line), no_wrap=True, crop=True)
            console.print(Text(part.caption, style="dim"))
            continue
        found, first = blocks(part, console.width, wrap=part.wrap), None
        if len(found) > 1:
            # Long names in the first column, which every block repeats, cost more than a second line.
            first = FIRST_FOLDED
            found = blocks(part, console.width, wrap=part.wrap, first=first)
        for number, block in enumerate(found):
            if number:
                console.print()
            console.print(Text(block.title, style="bold"))
            console.print(_rich(block, wrap=part.wrap if number == 0 else None, first=first))
    console.print()
    for line in page.notes:
        console.print(Text(line), soft_wrap=False)


def blocks(table: Table, width: int, wrap: int | None = None, first: int | None = None) -> list[Table]:
    """Split a table by columns into tables that fit a width; each repeats the first column.

    Parameters
    ----------
    table : Table
    width : int
        Cells of the terminal.
    wrap : int or None, default=None
        A column that may fold, and needs no more than `FOLDED` cells.
    first : int or None, default=None
        The first column may fold too, and needs no more than that many cells.

    Returns
    -------
    list of Table
    """
    # Three blanks between columns, and in each but the first one room for the mark.
    widths = [3 + _cells(table, index) for index in range(len(table.columns))]
    if wrap is not None:
        widths[wrap] = min(widths[wrap], 3 + FOLDED)
    if first is not None:
        widths[0] = min(widths[0], 3 + first)
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


def _rich(table: Table, wrap: int | None = None, first: int | None = None) -> RichTable:
    """Draw a table without its title; column `wrap` may fold, and the first beyond `first` cells; others may not."""
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(table.columns):
        most = first if index == 0 else None
        drawn.add_column(
            Text(name),
            justify="left" if index in (0, wrap) else "right",
            no_wrap=index != wrap and most is None,
            overflow="fold",
            max_width=most,
        )
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
    return any(cell.role in BESIDE_MARKS for row in table.rows for cell in row)


def _text(cell: Cell, room: str = "") -> Text:
    return Text(cell.text + ("" if cell.role in BESIDE_MARKS else room), style=STYLES.get(cell.role, ""))
