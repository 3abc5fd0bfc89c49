"""Layouts of a table: its width is what a terminal prints."""

import io

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.contents import needed_width
from mfbench.report.render.terminal import show

WORDS = st.text(st.sampled_from("abc 0.±–表"), min_size=1, max_size=12).map(str.strip).filter(bool)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 6))
    columns = draw(st.lists(WORDS, min_size=n, max_size=n))
    numbers = st.builds(Cell, WORDS) | st.builds(lambda text: Cell(f"{text} ≈", "not-worse"), WORDS)
    row = st.tuples(st.builds(Cell, WORDS), *[numbers] * (n - 1)).map(list)
    rows = draw(st.lists(row, min_size=1, max_size=4))
    return Table(columns, rows, footer_rows=draw(st.integers(0, 1)))


def lines_of(table, width):
    console = Console(file=io.StringIO(), width=width)
    show(Report("", "", [Section("", [table])]), console)
    return [line for line in console.file.getvalue().splitlines() if line.strip()]


@settings(max_examples=60)
@example(Table(["dataset", "A"], [[Cell("iris"), Cell("1 ≈", "not-worse")], [Cell("wine"), Cell("12")]]))
@example(Table(["x", "two\nlines"], [[Cell("a"), Cell("b")]]))
@given(tables())
def test_the_width_that_a_table_needs_is_what_the_terminal_prints(table):
    lines = lines_of(table, 500)
    assert max(map(cell_len, lines)) == needed_width(table)
    assert lines_of(table, needed_width(table)) == lines
