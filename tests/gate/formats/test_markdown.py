"""Markdown: the verdict first, tables that hold whatever the names are, a marker, and GitHub's limit of length."""

import html
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from mfbench_gate.comparison import Cell, Comparison, Omission, Side, Verdict
from mfbench_gate.formats.markdown import marker, to_markdown

MOST = 65_536
COLUMNS = ["method", "dataset", "measure", "base", "head", "change", "verdict", "reason"]


def rendered(text):
    return MarkdownIt("commonmark").enable("table").render(text)


def rows(text):
    """Return the cells of all table rows, as a reader sees them."""
    lines = re.findall(r"<tr>(.*?)</tr>", rendered(text), re.DOTALL)
    cells = [re.findall(r"<t[dh]>(.*?)</t[dh]>", line, re.DOTALL) for line in lines]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in cells]


def test_the_verdict_comes_first_and_the_rest_is_folded(comparison):
    text = to_markdown(comparison)
    lines = text.splitlines()
    assert lines[0] == "<!-- mfbench-comparison: times-of-two-methods -->"
    assert lines[1] == "## ✗ Worse: 1 of 4 cells, undecided: 2"
    assert lines[3].startswith("<code>Times of two methods</code>: <code>main</code> (0123abc) → <code>HEAD</code>")
    table = rows(text)
    assert table[0] == COLUMNS
    assert [row[6] for row in table] == [
        "verdict", "✗ worse", "? undecided", "? undecided", "verdict", "✓ no worse", "~ trend",
    ]  # fmt: skip
    assert table[1][:6] == ["RFF", "wine", "time", "10 ms", "12 ms", "+20.0 % (+15.0 … +25.0)"]
    assert re.findall("<summary>(.*)</summary>", text) == ["2 other cells", "Changed predictions: 1", "Not compared: 1"]
    assert "<code>1NN&#47;wine</code>: 3 of 178 rows" in text
    assert "The probability of any false alarm is at most 5 %." in text


def test_a_comparison_without_a_verdict_claims_no_level(comparison):
    comparison.cells = comparison.with_verdict(Verdict.TREND)
    text = to_markdown(comparison)
    assert text.splitlines()[1] == "## ~ No verdict: 1 cell without measurements that compare"
    assert "false alarm" not in text


def test_benchmarks_without_datasets_have_no_column_of_them():
    text = to_markdown(Comparison(Side("a"), Side("b"), cells=[Cell("fit", "", "time", 1.0, 2.0, Verdict.TREND)]))
    assert rows(text)[0] == ["benchmark", *COLUMNS[2:]]
    assert len(rows(text)[1]) == len(COLUMNS) - 1
    assert "<summary>1 cell</summary>" in text


def test_nothing_compared():
    text = to_markdown(Comparison(Side("a"), Side("b"), omissions=[Omission("m", "it failed")]))
    assert "## – Nothing was compared" in text
    assert "it failed" in text


def test_hostile_names_stay_text(hostile):
    text = to_markdown(hostile)
    text.encode("utf-8")
    page = rendered(text)
    assert set(re.findall(r"</?([a-z0-9]+)", page)) <= {
        "h2", "p", "code", "table", "thead", "tbody", "tr", "th", "td", "strong", "details", "summary", "ul", "li",
    }  # fmt: skip
    assert all(len(row) == len(COLUMNS) for row in rows(text))
    assert rows(text)[1][0].startswith("a|b <img src=x>`*_@everyone #1")
    assert "\x1b" not in text
    assert text.count("<!--") == 1
    # Outside of code nothing follows the sign of a mention directly.
    outside = html.unescape(re.sub("<code>.*?</code>", "", page, flags=re.DOTALL))
    assert "@" in outside
    assert not re.search(r"@\w", outside)


def test_a_comment_is_never_longer_than_github_accepts(comparison):
    cell = replace(comparison.cells[0], method="m" * 400, reason="r" * 2000)
    comparison.cells = [cell] * 500 + [replace(cell, verdict=Verdict.NO_WORSE)] * 500
    comparison.omissions = [Omission("x" * 5000, "y" * 5000)] * 500
    comparison.notes = ["z" * 5000] * 500
    comparison.changes = comparison.changes * 5000
    text = to_markdown(comparison)
    assert len(text) < MOST
    assert text.count("more cells; the JSON file has all of them.") == 2
    assert text.count("</details>") == 3
    assert len(rows(text)) > 20


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("", "<!-- mfbench-comparison -->"),
        ("--> <b>", "<!-- mfbench-comparison: b -->"),
        ("Ünï", "<!-- mfbench-comparison: n -->"),
    ],
)
def test_marker(title, line):
    assert marker(title) == line
