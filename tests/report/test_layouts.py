"""Other layouts of a table: nothing is lost when it is turned round, and its width is what a terminal prints."""

import io

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.contents import HEADING_LINES, HEADING_WIDTH, compact, needed_width, transposed
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


def test_a_table_turned_round_keeps_cells_and_roles():
    first, second = Cell("1", "best"), Cell("2", "missing")
    table = Table(["dataset", "A", "B"], [[Cell("iris"), first, second], [Cell("wine"), second, first]], "scores")
    turned = transposed(table, "method")
    assert turned.columns == ["method", "iris", "wine"]
    assert turned.rows == [[Cell("A"), first, second], [Cell("B"), second, first]]
    assert turned.title == "scores"


@settings(max_examples=30)
@given(tables())
def test_a_table_turned_round_twice_is_the_same(table):
    again = transposed(transposed(table, "method"), table.columns[0])
    assert again.columns == table.columns
    assert [[cell.text for cell in row] for row in again.rows] == [[cell.text for cell in row] for row in table.rows]


def test_a_compact_table_keeps_means_marks_and_roles():
    texts = {"90.1 ± 1.2": "90.1", "90.1 ± 10.2 ≈": "90.1 ≈", "50.0 ± 0.1 (4/5)": "50.0 (4/5)", "–": "–", "0.9": "0.9"}
    cells = [Cell(text, "not-worse") for text in texts]
    short = compact(Table(["method", *"abcde"], [[Cell("A ± 1"), *cells]], "t", footer_rows=1))
    assert short.rows == [[Cell("A ± 1"), *(Cell(text, "not-worse") for text in texts.values())]]
    assert (short.title, short.footer_rows) == ("t", 1)


def test_long_headings_take_several_short_lines():
    name = "a-very-long-name-of-a-dataset-that-does-not-end"
    names = ["breast-cancer-coimbra", "wine", name, "x" * 60]
    short = compact(Table(["method", *names], []))
    for heading in short.columns[1:]:
        lines = heading.split("\n")
        assert len(lines) <= HEADING_LINES
        assert max(map(len, lines)) <= HEADING_WIDTH
    assert short.columns[:3] == ["method", "breast-\ncancer-\ncoimbra", "wine"]
    assert short.columns[3].startswith("a-very-\nlong-")
    assert all(heading.endswith("…") for heading in short.columns[3:])
