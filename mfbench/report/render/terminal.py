"""The report on a terminal."""

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import MARK
from mfbench.report.contents import GAP, MARKED_ROLES, column_width, has_marks

WRAP_WIDTH = 28
FIRST_WRAP_WIDTH = 40
STYLES = {
    "best": "bold green",
    "best-marked": "bold green",
    "not-worse": "green",
    "missing": "dim",
    "above": "cyan",
    "below": "magenta",
    "equivalent": "green",
}


def show(report: Report, console: Console) -> None:
    """Print a report."""
    console.print()
    console.print(Text(report.title, style="bold"))
    console.print(Text(report.setting, style="dim"))
    if report.answer:
        console.print()
    for sentence in report.answer:
        console.print(Text(sentence, style="bold"), soft_wrap=False)
    for section in report.sections:
        if section.has_content:
            _show_section(section, console)


def _show_section(section: Section, console: Console) -> None:
    console.print()
    if section.title:
        console.print(Text(section.title, style="bold underline"))
    for number, table in enumerate(section.tables):
        if number:
            console.print()
        _show_table(table, console)
    for number, chart in enumerate(section.charts):
        if chart.text is None:
            continue
        if number or section.tables:
            console.print()
        console.print(Text(chart.title, style="bold"))
        for line in chart.lines(console.width):
            console.print(Text(line), no_wrap=True, crop=True)
        if chart.caption:
            console.print(Text(chart.caption, style="dim"))
    if section.notes and section.charts:
        console.print()
    for note in section.notes:
        console.print(Text(note), soft_wrap=False)


def _show_table(table: Table, console: Console) -> None:
    parts, first = blocks(table, console.width), None
    if len(parts) > 1:
        # Each block repeats the first column, so long names cost more than wrapping to a second line.
        first = FIRST_WRAP_WIDTH
        parts = blocks(table, console.width, first=first)
    for number, part in enumerate(parts):
        if number:
            console.print()
        if part.title:
            console.print(Text(part.title, style="bold"))
        console.print(_rich(part, first=first))


def blocks(table: Table, width: int, first: int | None = None) -> list[Table]:
    """Split a table by columns into tables that fit a width, each repeating the first column."""
    # Columns are separated by three spaces; all but the first also reserve space for a mark.
    widths = [GAP + column_width(table, index) for index in range(len(table.columns))]
    if table.wrap is not None:
        widths[table.wrap] = min(widths[table.wrap], GAP + WRAP_WIDTH)
    if first is not None:
        widths[0] = min(widths[0], GAP + first)
    groups: list[list[int]] = [[]]
    room = width + 1 - widths[0]  # one space, not three, before the first column and after the last
    for index in range(1, len(widths)):
        if groups[-1] and sum(widths[i] for i in groups[-1]) + widths[index] > room:
            groups.append([])
        groups[-1].append(index)
    if len(groups) == 1:
        return [table]
    return [
        Table(
            [table.columns[0], *(table.columns[i] for i in group)],
            [[row[0], *(row[i] for i in group)] for row in table.rows],
            f"{table.title} ({number} of {len(groups)})" if table.title else f"Part {number} of {len(groups)}",
            table.footer_rows,
            1 + group.index(table.wrap) if table.wrap in group else None,
        )
        for number, group in enumerate(groups, 1)
    ]


def _rich(table: Table, first: int | None = None) -> RichTable:
    """Return a rich table without its title; if `first` is set, the first column may wrap beyond that width."""
    rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(table.columns):
        max_width = first if index == 0 else None
        rich_table.add_column(
            Text(name),
            justify="left" if index in (0, table.wrap) else "right",
            no_wrap=index != table.wrap and max_width is None,
            overflow="fold",
            max_width=max_width,
        )
    first_footer = len(table.rows) - table.footer_rows
    marked = has_marks(table)
    for position, row in enumerate(table.rows):
        # Numbers align only if cells without a mark leave space for it.
        texts = [_text(cell, " " * (1 + len(MARK)) if marked and index else "") for index, cell in enumerate(row)]
        rich_table.add_row(*texts, end_section=position == first_footer - 1)
    return rich_table


def _text(cell: Cell, room: str = "") -> Text:
    return Text(cell.text + ("" if cell.role in MARKED_ROLES else room), style=STYLES.get(cell.role, ""))
