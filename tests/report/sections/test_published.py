"""Published figures in a report: every figure in one table, the largest differences in another, the counts in notes."""

import io
import json

import pytest
from rich.console import Console

from mfbench.report.contents import report_of
from mfbench.report.render.files import to_csv, to_json, to_markdown
from mfbench.report.render.terminal import show
from mfbench.report.sections.published import published
from mfbench.suite.published import PublishedCount, PublishedFigure


def figure(dataset, method, value, table="t1", **more):
    return PublishedFigure(table, dataset, method, label=dataset.upper(), value=value, **more)


@pytest.fixture
def run(write_run):
    cells = {("iris", "A"): 0.9, ("iris", "B"): 0.8, ("wine", "A"): [0.5, 0.5, 0.6, 0.6, None], ("wine", "B"): 0.7}
    return write_run(
        cells,
        published=[
            figure("iris", "A", 0.9),
            figure("iris", "B", 0.7),
            figure("wine", "A", 0.9),
            figure("wine", "B", 0.7, obstacle="published with 9 × 9, ours has 4 × 2"),
            figure("iris", "B", 0.95, table="t2"),
        ],
        rows=1000,
    )


def test_one_table_for_each_paper_and_one_of_the_differences(run):
    first, methods, second, _, largest = published(run).tables
    assert first.title == "Ours/published: Paper, t1, accuracy, percent"
    assert [[cell.text for cell in row] for row in first.rows] == [
        ["iris (IRIS)", "90.0/90.0 =", "80.0/70.0 ▲"],
        ["wine (WINE)", "(55.0/90.0)", "(70.0/70.0)"],
    ]
    assert [cell.role for cell in first.rows[0][1:]] == ["equivalent", "above"] and first.rows[1][1].role == "missing"
    assert methods.title == "Methods: Paper, t1, mean difference over comparable datasets"
    assert methods.columns[4:] == ["above", "equivalent", "undecided", "below"]
    assert [[cell.text for cell in row] for row in methods.rows] == [
        ["A", "1", "+0.0 [–, –]", "undecided", "0", "1", "0", "0"],
        ["B", "1", "+10.0 [–, –]", "undecided", "1", "0", "0", "0"],
    ]
    assert [[cell.text for cell in row] for row in second.rows] == [["iris (IRIS)", "80.0/95.0 ▼"]]
    assert largest.title == "All differences that are above or below"
    rows = [[cell.text for cell in row] for row in largest.rows]
    assert [(row[0], row[1], row[2], row[3], row[5]) for row in rows] == [
        ("iris (IRIS)", "B", "80.0", "95.0", "Paper, t2"),
        ("iris (IRIS)", "B", "80.0", "70.0", "Paper, t1"),
    ]
    # The interval is that of the difference.
    assert largest.columns[4] == "difference ± 95 %"
    assert [row[4].partition(" ± ")[0] for row in rows] == ["-15.0", "+10.0"]


def test_printed_counts_are_beside_ours_over_the_tables_datasets(write_run):
    """On iris A is better on every fold; wine is not in the table, and glass is not comparable."""
    cells = {(name, "A"): [0.9, 0.8, 0.9, 0.8, 0.9] for name in ("iris", "wine", "glass")}
    cells |= {(name, "B"): [0.5, 0.4, 0.52, 0.4, 0.5] for name in ("iris", "wine", "glass")}
    figures = [figure("iris", "B", 0.5), figure("glass", "B", 0.5, obstacle="was published with 9 × 9")]
    run = write_run(cells, published=figures, counts=[PublishedCount("t1", "A", "B", 19, 0, 1)])
    section = published(run)
    (table,) = [table for table in section.tables if table.title.startswith("Wins/ties/losses")]
    assert [[cell.text for cell in row] for row in table.rows] == [["A", "B", "1/0/0", "19/0/1", "Paper, t1"]]
    assert any(note.startswith("Wins, ties and losses: ours count the comparable") for note in section.notes)
    report = report_of(run)
    (row,) = json.loads(to_json(report))["published_counts"]
    assert (row["our_wins"], row["printed_wins"], row["printed_losses"]) == (1, 19, 1)
    assert "| A | B | 1/0/0 | 19/0/1 | Paper, t1 |" in to_markdown(report)


def test_the_trivial_score_is_next_to_the_metric_that_it_inflates(write_run):
    cells = {("iris", "A"): 0.9, ("iris", "B"): 0.8}
    figures = [figure("iris", "A", 0.9), figure("iris", "B", 0.7)]
    first = published(write_run(cells, metrics=("one_vs_rest_accuracy",), published=figures, rows=1000)).tables[0]
    assert first.columns == ["dataset", "trivial", "A", "B"]
    # The truth of the datasets written by hand is 0, 1, 1, 1.
    assert [[cell.text for cell in row] for row in first.rows] == [
        ["iris (IRIS)", "75.0", "90.0/90.0 =", "80.0/70.0 ▲"],
    ]
    other = write_run(cells, metrics=("accuracy", "one_vs_rest_accuracy"), published=figures)
    assert published(other).tables[0].columns == ["dataset", "A", "B"]


def test_the_notes_count_and_name_what_is_not_compared(run):
    counts, apart, holes = published(run).notes
    assert (
        "Of 3 comparable figures, ours is equivalent on 1 (=), above on 1 (▲), below on 1 (▼), and 0 are undecided."
        in counts
    )
    assert "the 90 % interval of the difference lies within ±2 points" in counts
    assert "from the spread between repeats" in counts
    assert apart == "Not comparable, in brackets: wine (WINE) published with 9 × 9, ours has 4 × 2."
    assert holes == "Not compared, in brackets: 1 figure of incomplete cells."


def test_only_the_largest_differences_are_listed(write_run):
    names = [f"d{i}" for i in range(14)]
    run = write_run(
        {(name, "A"): 0.5 for name in names},
        published=[figure(n, "A", 0.6 + i / 50) for i, n in enumerate(names)],
        rows=1000,
    )
    largest = published(run).tables[-1]
    assert largest.title == "The 10 largest of 14 differences that are above or below"
    assert [row[0].text for row in largest.rows] == [f"d{i} (D{i})" for i in range(13, 3, -1)]


def test_a_table_without_a_match_is_named(write_run):
    run = write_run({("d", "A"): 0.5}, published=[figure("e", "A", 0.5)])
    assert published(run).tables == []
    assert published(run).notes == ["Paper, t1 has no figure for a dataset and a method of this run."]


def test_without_published_figures_there_is_no_section(small_run):
    assert not published(small_run).has_content


@pytest.mark.parametrize("width", [60, 80, 120])
def test_terminal(run, width):
    console = Console(file=io.StringIO(), width=width)
    show(report_of(run), console)
    text = console.file.getvalue()
    assert "Ours/published: Paper, t1" in text and "80.0/70.0 ▲" in text and "Methods: Paper, t1" in text
    # Cells without a mark leave room for one, so numbers are aligned.
    assert max(len(line) for line in text.splitlines()) <= width


def test_exports(run):
    text = to_markdown(report_of(run))
    assert "### Ours/published: Paper, t1" in text and "| 80.0/70.0 ▲ |" in text and "Not comparable" in text
    content = json.loads(to_json(report_of(run, everything=True)))["published"]
    assert [row["verdict"] for row in content] == ["equivalent", "above", "incomplete", "not comparable", "below"]
    header, _, second, *_ = to_csv(report_of(run, everything=True)).splitlines()
    assert header.split(",")[-6:] == [f"{t}_{n}" for t in ("t1", "t2") for n in ("published", "difference", "verdict")]
    cells = dict(zip(header.split(","), second.split(","), strict=True))
    assert (cells["dataset"], cells["method"]) == ("iris", "B")
    assert (cells["t1_verdict"], cells["t2_verdict"], cells["t1_published"]) == ("above", "below", "0.7")


def test_a_method_is_judged_over_its_datasets(write_run):
    names = ["d0", "d1", "d2", "d3"]
    shifts = [0.004, -0.004, 0.002, -0.002]
    figures = [figure(name, "A", 0.8 + shift) for name, shift in zip(names, shifts, strict=True)]
    figures += [figure(name, "B", 0.7 + shift) for name, shift in zip(names, shifts, strict=True)]
    run = write_run({(name, method): 0.8 for name in names for method in "AB"}, published=figures)
    table = published(run).tables[1]
    (a, b) = [[cell.text for cell in row[:4]] for row in table.rows]
    assert a == ["A", "4", "+0.0 [-0.4, +0.4]", "equivalent ="] and b == ["B", "4", "+10.0 [+9.6, +10.4]", "above ▲"]
    summary = json.loads(to_json(report_of(run, everything=True)))["published_summary"]
    assert [row["verdict"] for row in summary] == ["equivalent", "above"]


def test_undecided_for_want_of_scores_is_explained(write_run):
    run = write_run({("iris", "A"): [0.5, 0.6]}, folds=2, published=[figure("iris", "A", 0.5)])
    assert "Undecided because fewer than 3 scores: 1 figure." in published(run).notes
