"""Markdown: the verdict first, tables that hold whatever the names are, a marker, and GitHub's limit of length."""

import html
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from mfbench_gate.comparison import CellVerdict, Comparison, Omission, Side
from mfbench_gate.formats import marker, to_markdown

MOST = 65_536
COLUMNS = ["cell", "base", "head", "change", "verdict", "reason"]


def rendered(text):
    return MarkdownIt("commonmark").enable("table").render(text)


def rows(text):
    """Return the cells of all table rows, as a reader sees them."""
    lines = re.findall(r"<tr>(.*?)</tr>", rendered(text), re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line, re.DOTALL) for line in lines]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in cells]


def test_the_verdict_comes_first_and_the_rest_is_folded(comparison):
    text = to_markdown(comparison)
    lines = text.splitlines()
    assert lines[0] == "<!-- mfbench-comparison: times-of-two-methods -->"
    assert lines[1] == "# ✗ Worse: 1 of 4 cells, undecided: 2"
    assert lines[3].startswith("Times of two methods; base: main (0123abc; a processor); head: HEAD")
    table = rows(text)
    assert table[0] == COLUMNS
    assert [row[4] for row in table] == [
        "verdict", "✗ worse", "? undecided", "? undecided", "verdict", "✓ no worse", "~ trend",
    ]  # fmt: skip
    assert table[1][:4] == ["RFF/wine: time", "10 ms", "12 ms", "+20.0 % (+15.0 … +25.0)"]
    assert re.findall("<summary>(.*)</summary>", text) == [
        "Other cells: 2",
        "Changed predictions: 1",
        "Not compared: 1",
    ]
    assert "1NN/wine: 3 of 178 rows" in text
    assert "The probability of any false alarm is at most 5 %." in text


def test_a_comparison_without_a_verdict_claims_no_level(comparison):
    comparison.cells = comparison.with_verdict(CellVerdict.TREND)
    text = to_markdown(comparison)
    assert text.splitlines()[1] == r"# \~ No verdict: 1 cell without measurements that compare"
    assert "false alarm" not in text


def test_nothing_compared():
    text = to_markdown(Comparison(Side("a"), Side("b"), omissions=[Omission("m", "it failed")]))
    assert "# – Nothing was compared" in text
    assert "it failed" in text


def test_hostile_names_stay_text(hostile):
    text = to_markdown(hostile)
    text.encode("utf-8")
    page = rendered(text)
    assert set(re.findall(r"</?([a-z0-9]+)", page)) <= {
        "h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
    }  # fmt: skip
    assert all(len(row) == len(COLUMNS) for row in rows(text))
    assert rows(text)[1][0].replace("\u200b", "").startswith("a|b <img src=x>`*_@everyone #1")
    assert "\x1b" not in text
    assert text.count("<!--") == 1
    # Nothing follows directly a sign that would notify somebody or make a link.
    shown = html.unescape(page)
    assert all(sign in shown for sign in ("@", "#", ":"))
    assert not re.search(r"@\w|#\d|://", shown)


def test_a_comment_is_never_longer_than_github_accepts(comparison):
    cell = replace(comparison.cells[0], method="m" * 400, reason="r" * 2000)
    comparison.cells = [cell] * 500 + [replace(cell, verdict=CellVerdict.NO_WORSE)] * 500
    comparison.omissions = [Omission("x" * 5000, "y" * 5000)] * 500
    comparison.notes = ["z" * 5000] * 500
    comparison.changes = comparison.changes * 5000
    comparison.title = "@" * 5000
    text = to_markdown(comparison)
    assert len(text) < MOST
    assert text.count("more lines; the JSON output has all of them.") == 5
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
