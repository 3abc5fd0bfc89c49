"""The report on a terminal: no column is lost at any width."""

import io
import re

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from mfbench.model.sections import Cell, Chart, Report, Section, Table
from mfbench.report.contents import report_of
from mfbench.report.render.terminal import _rich, blocks, show
from mfbench.report.sections.scores import score_table


def printed(run, width=160):
    console = Console(file=io.StringIO(), width=width)
    show(report_of(run), console)
    return console.file.getvalue()


def drawn_width(table):
    """Width of a table where there is room for everything."""
    console = Console(file=io.StringIO(), width=1000)
    console.print(_rich(table))
    return max(cell_len(line) for line in console.file.getvalue().splitlines())


WORDS = st.text(st.sampled_from("abcdefgh 0.±"), min_size=1, max_size=12)


@st.composite
def tables(draw, roles=("plain", "not-worse")):
    n = draw(st.integers(1, 12))
    columns = draw(st.lists(WORDS, min_size=n, max_size=n))
    cell = st.builds(Cell, WORDS, st.sampled_from(roles))
    rows = draw(st.lists(st.lists(cell, min_size=n, max_size=n), max_size=4))
    return Table(columns, rows, "title", footer_rows=min(1, len(rows)))


class TestBlocks:
    @settings(deadline=None, max_examples=60, phases=[Phase.explicit, Phase.generate])
    @example(Table(list("abcdefgh"), [], "t"), 30)
    @example(Table(list("abcdefgh"), [[Cell(letter, "not-worse") for letter in "abcdefgh"]], "t"), 40)
    @given(tables(), st.integers(34, 120))
    def test_no_block_exceeds_the_width_and_no_column_is_lost(self, table, width):
        parts = blocks(table, width)
        assert all(drawn_width(block) <= width for block in parts)
        assert all(block.columns[0] == table.columns[0] for block in parts)
        assert [name for block in parts for name in block.columns[1:]] == table.columns[1:]
        for number, row in enumerate(table.rows):
            assert all(block.rows[number][0] is row[0] for block in parts)
            assert [cell for block in parts for cell in block.rows[number][1:]] == row[1:]
        assert all(len(block.columns) > 1 for block in parts) or len(table.columns) == 1

    @settings(deadline=None, max_examples=40)
    @given(tables(roles=["plain"]))
    def test_a_table_that_fits_is_not_split(self, table):
        assert blocks(table, drawn_width(table) + 4) == [table]

    def test_blocks_are_numbered_and_keep_their_footer(self):
        table = Table(["d", "x" * 20, "y" * 20], [[Cell("a")] * 3, [Cell("b")] * 3], "scores", footer_rows=1)
        first, second = blocks(table, 30)
        assert (first.title, second.title) == ("scores (1 of 2)", "scores (2 of 2)")
        assert first.footer_rows == second.footer_rows == 1
        assert blocks(table, 200)[0].title == "scores"

    def test_a_column_wider_than_the_width_still_has_a_block(self):
        table = Table(["d", "x" * 50, "y"])
        assert [block.columns for block in blocks(table, 20)] == [["d", "x" * 50], ["d", "y"]]

    def test_a_long_first_column_folds_where_that_saves_blocks(self):
        table = Table(["d", *("x" * 10 for _ in range(8))], [[Cell("long name " * 8), *(Cell("1"),) * 8]])
        assert len(blocks(table, 120)) > 1
        assert len(blocks(table, 150, first=40)) == 1
        console = Console(file=io.StringIO(), width=150)
        console.print(_rich(table, first=40))
        lines = console.file.getvalue().splitlines()
        assert max(cell_len(line.rstrip()) for line in lines) <= 150
        assert sum("long name" in line for line in lines) == 2

    def test_wide_letters_count_twice(self):
        parts = blocks(Table(["d", "数据数据数据", "数据数据数据"]), 24)
        assert all(drawn_width(block) <= 24 for block in parts)


class TestShow:
    @pytest.fixture
    def wide_run(self, write_run):
        methods = [f"METHOD{number:02}" for number in range(14)]
        return write_run(
            {("iris", name): 0.5 + 0.02 * n for n, name in enumerate(methods)}, report={"reference": "METHOD03"}
        )

    def test_every_score_is_there_at_any_width(self, wide_run):
        for width in [60, 80, 100, 160]:
            text = printed(wide_run, width)
            assert all(len(line.rstrip()) <= width for line in text.splitlines())
            (row, *_) = score_table(wide_run).rows
            for name, cell in zip(wide_run.methods, row[1:], strict=True):
                assert name in text
                assert cell.text in text
            assert "Part 1 of " in " ".join(text.split())

    def test_content(self, small_run):
        text = printed(small_run)
        assert text.strip().startswith("Own suite\nProfile quick: 5-fold")
        for part in (
            "90.0 ±",
            "≈",
            "99.0 ± 0.0 (4/5)",
            "papers' rule W/T/L",
            "sound W/T/L",
            "average rank",
            "0/1/1",
            "reference",
            "a → knn",
        ):
            assert part in text
        assert "Left out: gone: no network" in text
        assert "Failed: C on wine" in text

    def test_best_is_bold_on_a_terminal(self, small_run):
        console = Console(file=io.StringIO(), width=160, force_terminal=True, color_system="standard", _environ={})
        show(report_of(small_run), console)
        assert re.search(r"\x1b\[1;32m *90\.0 ±", console.file.getvalue())
        assert re.search(r"\x1b\[32m *89\.9 ± \S+ ≈", console.file.getvalue())

    def test_markup_in_names_is_text(self, write_run):
        run = write_run({("d[bold]", "A[/]"): 0.5}, title="[red]title[/red]", left_out=[("x[b]", "[link=y]z")])
        text = printed(run)
        for part in ("d[bold]", "A[/]", "[red]title[/red]", "Left out: x[b]: [link=y]z"):
            assert part in text

    def test_a_run_without_trials_says_so(self, write_run):
        text = printed(write_run({}, left_out=[("gone", "no network")]))
        assert "No trials: there was nothing to measure." in text
        assert "Left out: gone: no network" in text

    def test_trials_without_a_result_yet(self, write_run):
        text = printed(write_run({("d", "A"): [None] * 5, ("d", "B"): [None] * 5}))
        assert "Not run yet: 10 of 10 trials" in text

    def below(self, run, width):
        """Return the table of methods, as printed."""
        text = printed(run, width)
        return text[text.index("Methods, best mean first") :]

    @pytest.mark.parametrize("width", [100, 160])
    def test_the_table_of_methods_is_whole(self, small_run, width):
        below = self.below(small_run, width)
        for part in ("what it is", "a → knn", "mean accuracy", "1.00", "peak memory", "2.0 MB", "1 of 10", "2.5 s"):
            assert part in below

    def test_a_long_description_folds_and_stays_whole(self, write_run):
        long = "relieff(n_neighbors=10) → knn [tunes classifier.n_neighbors, selector.sigma, top]"
        below = self.below(write_run({("d", "A"): 0.5, ("d", "B"): 0.6}, describe={"A": long}), 110)
        assert set(long.split()) <= set(below.split())
        assert "1.2 s" in below

    @pytest.mark.parametrize("width", [60, 80])
    def test_the_table_of_methods_loses_nothing_on_a_narrow_terminal(self, write_run, width):
        run = write_run({("d", "RELIEF"): 0.5, ("d", "1NN"): 0.6}, metrics=["balanced_accuracy"])
        below = self.below(run, width)
        for part in ("RELIEF", "relief → knn", "mean balanced_accuracy", "rank", "1.00", "1.2 s", "2.0 MB", "failed"):
            assert part in below


def test_notes_follow_the_tables_and_charts_of_their_section():
    chart = Chart("c", "Picture", "Caption.", text=lambda width: [f"{width} wide"])
    sections = [
        Section("One", [Table(["a"], [[Cell("x")]], "Heading")], [chart, Chart("d", "No text")], ["Note."]),
        Section("Nothing"),
        Section("Two", notes=["Another note."]),
    ]
    console = Console(file=io.StringIO(), width=60)
    show(Report("Title", "Setting", sections), console)
    text = console.file.getvalue()
    parts = ["Title", "Setting", "One", "Heading", "Picture", "60 wide", "Caption.", "Note.", "Two", "Another note."]
    positions = [text.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "Nothing" not in text and "No text" not in text
