"""The report on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from mfbench.analysis.results import Run
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

STYLES = {BEST: "bold green", NOT_WORSE: "green", MISSING: "dim"}


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
    if not len(run.trials):
        console.print("No trials: there was nothing to measure.")
    else:
        console.print()
        for block in blocks(score_table(run), console.width):
            console.print(_rich(block))
            console.print()
        console.print(_rich(summary_table(run), wrap=1))
    console.print()
    for line in notes(run):
        console.print(Text(line), soft_wrap=False)


def blocks(table: Table, width: int) -> list[Table]:
    """Split a table by columns into tables that fit a width; each repeats the first column.

    Parameters
    ----------
    table : Table
    width : int
        Characters.

    Returns
    -------
    list of Table
    """
    extra = 2 + (1 + len(MARK) if _marked(table) else 0)  # blanks between columns, and room for the mark
    widths = [
        extra + max([len(name), *(len(row[index].text) for row in table.rows)])
        for index, name in enumerate(table.columns)
    ]
    groups: list[list[int]] = [[]]
    room = width - widths[0] - 1
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


def _marked(table: Table) -> bool:
    return any(cell.role == NOT_WORSE for row in table.rows for cell in row)


def _text(cell: Cell, room: str = "") -> Text:
    return Text(cell.text + ("" if cell.role == NOT_WORSE else room), style=STYLES.get(cell.role, ""))
