"""Markdown has the tables of the terminal, in a form that other programs read."""

import re

import pytest

from mfbench.model.sections import Cell, Chart, Report, Section, Table
from mfbench.report.contents import report_of
from mfbench.report.render.files import to_markdown
from mfbench.report.sections.scores import methods, score_table


def markdown_rows(text, heading):
    """Return the cells of the table under a heading, as a reader of Markdown splits them."""
    body = text[re.search(rf"^## {heading}", text, re.MULTILINE).end() :]
    lines = [line for line in body.split("\n\n")[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


class TestMarkdown:
    def test_tables_are_those_of_the_terminal_with_the_best_in_bold(self, small_run):
        text = to_markdown(report_of(small_run))
        for table, heading in (
            (score_table(small_run), "Accuracy, percent"),
            (methods(small_run).tables[0], "Methods"),
        ):
            head, rule, *rows = markdown_rows(text, heading)
            assert head == table.columns
            assert rule == ["---"] + ["---:"] * (len(head) - 1)
            expected = [[f"**{c.text}**" if c.role == "best" else c.text for c in row] for row in table.rows]
            assert rows == expected
        assert text.count("**") == 2 * 2

    def test_pipes_and_line_breaks_do_not_break_a_row(self, write_run):
        run = write_run({("a|b", "x|y"): 0.5, ("a|b", "z"): 0.4}, describe={"z": "one\ntwo | three"})
        text = to_markdown(report_of(run))
        for heading, width in (("Accuracy, percent", 3), ("Methods", 9)):
            assert {len(row) for row in markdown_rows(text, heading)} == {width}
        assert r"a\|b" in text
        assert r"x\|y" in text
        assert r"one two \| three" in text

    def test_the_head_names_how_it_was_made(self, small_run):
        text = to_markdown(report_of(small_run), ["mfbench suite own", "mfbench report own"])
        assert text.startswith("# Own suite\n\nMade by\n\n    mfbench suite own\n    mfbench report own\n\n")
        assert "Profile quick: 5-fold" in text
        assert "scikit-learn 1.7" in text
        assert "Made by" not in to_markdown(report_of(small_run))

    def test_notes_follow_the_tables_of_their_section(self, small_run):
        text = to_markdown(report_of(small_run))
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert text.index("## Accuracy") < text.index("Bold: best mean") < text.index("## Methods")
        assert text.index("## Remarks") < text.index("Left out: gone: no network")

    def test_names_of_metrics_keep_their_case(self, write_run):
        text = to_markdown(report_of(write_run({("d", "A"): 0.9}, metrics=("balanced_accuracy",))))
        assert "## balanced_accuracy, percent" in text

    @pytest.mark.parametrize("metric", ["accuracy", "one_vs_rest_accuracy"])
    def test_no_trials_of_any_metric_have_no_tables(self, write_run, metric):
        assert "|" not in to_markdown(report_of(write_run({}, metrics=(metric,), left_out=[("gone", "no network")])))

    def test_no_trials_have_no_tables(self, write_run):
        text = to_markdown(report_of(write_run({}, left_out=[("gone", "no network")])))
        assert "|" not in text
        assert "Left out: gone" in text


def test_titles_of_tables_and_charts_are_subheadings():
    chart = Chart("c", "Picture", "What it shows.", text=lambda width: ["-" * 3, f"{width}"])
    section = Section("Costs", [Table(["a"], [[Cell("1")]], "By method"), Table(["b"])], [chart], ["A note."])
    text = to_markdown(Report("Title", "Setting", [section, Section("Empty")]))
    assert text == (
        "# Title\n\nSetting.\n\n## Costs\n\n### By method\n\n| a |\n| --- |\n| 1 |\n\n| b |\n| --- |\n\n"
        "### Picture\n\n```text\n---\n100\n```\n\nWhat it shows.\n\nA note.\n"
    )


def test_a_chart_without_text_is_left_out():
    assert "Picture" not in to_markdown(Report("T", "S", [Section("C", charts=[Chart("c", "Picture")])]))


@pytest.mark.parametrize(
    ("address", "line"),
    [("pictures/a b.svg", "![Alt \\| text](pictures/a%20b.svg)"), ("c.pdf", "[Alt \\| text](c.pdf)")],
)
def test_a_picture_takes_the_place_of_the_text_of_a_chart(address, line):
    chart = Chart("c", "Picture", "Caption.", text=lambda width: ["drawn"], alt=lambda: "Alt | text")
    report = Report("T", "S", [Section("C", charts=[chart])])
    text = to_markdown(report, pictures={"c": address})
    assert f"### Picture\n\n{line}\n\nCaption.\n" in text and "drawn" not in text
    assert "drawn" in to_markdown(report, pictures={"other": address})
