"""The report in a notebook: tables and sentences, every name as text, and neither script nor style."""

import re

from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.brief import brief_report
from mfbench.report.render.html.page import to_fragment

HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_hostile_names_are_text():
    table = Table([HOSTILE, HOSTILE], [[Cell(HOSTILE), Cell(HOSTILE, "best")], [Cell(HOSTILE), Cell(HOSTILE)]], HOSTILE)
    report = Report(HOSTILE, HOSTILE, [Section(HOSTILE, [table], notes=[HOSTILE])], {}, "", [HOSTILE])
    text = to_fragment(report)
    assert text.count("&lt;img src=x onerror=alert(1)&gt;") == 12
    assert set(re.findall(r"</?([a-z]+)", text)) == {
        "div", "p", "strong", "br", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert not re.search(r"<[^>]* (?!class=|scope=)[a-z]+=", text)


def test_the_best_cell_is_bold():
    table = Table(["m", "a"], [[Cell("A"), Cell("1", "best")], [Cell("B"), Cell("2 ≈", "not-worse")]])
    text = to_fragment(Report("t", "s", [Section("S", [table])]))
    assert '<tr><th scope="row">A</th><td><strong>1</strong></td></tr>' in text
    assert '<tr><th scope="row">B</th><td>2 ≈</td></tr>' in text


def test_empty_sections_are_left_out_and_the_answer_is_first():
    report = Report("t", "s", [Section("Empty"), Section("Full", notes=["note"])], answer=["A leads."])
    text = to_fragment(report)
    assert "Empty" not in text
    assert text.index("A leads.") < text.index("note")


def test_a_run_is_shown_without_script_and_style(small_run):
    text = to_fragment(brief_report(small_run, 10_000))
    assert not re.search("<(script|style|link|iframe)", text)
    assert re.search(
        r'<tr><th scope="row">iris</th><td><strong>90\.0 ± [\d.]+</strong></td><td>89\.9 ± [\d.]+ ≈</td>', text
    )
