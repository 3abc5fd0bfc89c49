"""The page as text: its scripts are the ones that its policy allows, and no name in it is more than text."""

import base64
import gzip
import hashlib
import html
import json
import math
import re
from html.parser import HTMLParser

import altair
import numpy as np
import pandas as pd
import pytest

from mfbench.base.text import plain
from mfbench.model.sections import Cell, Chart, Report, Section, Table
from mfbench.report.render.html.page import as_json, compressed, policy, to_html
from mfbench.report.render.html.tables import Group, ScoreData, score_data
from mfbench.report.sections.scores import score_table

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>&amp;\"'` \u2028",
    "{{7*7}}{% raw %}",
)
VOID = {"meta", "input", "br", "img", "link", "hr"}


class Elements(HTMLParser):
    """The elements of a page, and the text in them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def scripts_of(text):
    return re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)


def expanded(text, name):
    """What the script reads from an element of the page."""
    (packed,) = re.findall(f'<script type="application/gzip" id="{name}">([A-Za-z0-9+/=]*)</script>', text)
    return gzip.decompress(base64.b64decode(packed)).decode()


def bars(rows=({"a": "x", "b": 1.0},)):
    return altair.Chart(pd.DataFrame(list(rows))).mark_bar().encode(x="a:N", y="b:Q")


def chart_section(*specs, plugin="", name="bars"):
    charts = [Chart(name, f"Chart {number}", spec=spec) for number, spec in enumerate(specs)]
    return Section("Charts", charts=charts, plugin=plugin)


class TestPolicy:
    def test_it_allows_the_scripts_of_the_page_and_nothing_else(self):
        text = to_html(Report("t", "s", []))
        content = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1])
        allowed = re.findall(r"'sha256-([^']+)'", content)
        scripts = [expanded(text, "library"), *scripts_of(text)]
        assert allowed == [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
        assert len(scripts) == 2
        assert content.startswith("default-src 'none'; ")
        assert "unsafe-inline" not in content.partition("script-src")[2].partition(";")[0]
        # A browser reads each kind of line end as a line feed, and then the hash is that of another text.
        assert "\r" not in text and "\0" not in text

    def test_it_names_a_source_for_each_script(self):
        assert policy(["1", "2"]).count("'sha256-") == 2


class TestData:
    def test_no_sign_can_end_the_element_and_none_is_lost(self):
        text = compressed(as_json({"names": list(HOSTILE)}))
        assert re.fullmatch("[A-Za-z0-9+/=]+", text)
        assert json.loads(gzip.decompress(base64.b64decode(text))) == {"names": list(HOSTILE)}

    def test_the_same_text_has_the_same_form_at_any_time(self, monkeypatch):
        first = compressed("text")
        monkeypatch.setattr("time.time", lambda: 2e9)
        assert compressed("text") == first

    def test_a_value_that_json_does_not_have_is_an_error(self):
        with pytest.raises(ValueError, match="JSON"):
            as_json([math.nan])

    def test_the_order_of_keys_does_not_matter(self):
        assert as_json({"b": 1, "a": 2}) == as_json({"a": 2, "b": 1})


class TestHostileNames:
    @pytest.fixture
    def page(self):
        first, second, third, fourth, fifth = HOSTILE
        rows = [[Cell(first), Cell(second, "best")], [Cell(third), Cell(fourth)]]
        table = Table([fifth, first], rows, second, footer_rows=1)
        chart = Chart(
            second, first, second, spec=lambda: bars([{"a": name, "b": 1.0} for name in HOSTILE]), alt=lambda: third
        )
        scores = ScoreData(
            table, 1, first, True, [first], [second], [[0.5]], [[""]], [["<b>"]],
            [Group(first, [[second, third]], [fourth]), Group(second, [], [])], [[[[0.5], [None], None, [], [], []]]],
        )  # fmt: skip
        section = Section(third, [table], [chart], [fourth, first])
        return to_html(Report(first, second, [section], {}, third, [fourth], [fifth]), second, scores)

    def test_they_are_text_and_no_elements(self, page):
        elements = Elements(page)
        assert elements.open == []
        assert elements.tags.count("script") == 3
        assert not {"img", "b"} & set(elements.tags)
        assert not [name for _, name, _ in elements.attributes if name.startswith("on")]
        for name in HOSTILE:
            assert any(name.strip() in text for text in elements.texts)

    def test_they_arrive_in_the_data_as_plain_text(self, page):
        scores = json.loads(expanded(page, "data"))["scores"]
        assert (scores["datasets"], scores["methods"]) == ([HOSTILE[0]], [HOSTILE[1]])
        answer = [plain(HOSTILE[3])]
        assert scores["groups"][0] == {"title": HOSTILE[0], "rows": [[HOSTILE[1], HOSTILE[2]]], "answer": answer}

    def test_names_of_elements_are_plain(self, page):
        names = [value for _, name, value in Elements(page).attributes if name in ("id", "data-chart")]
        assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
        ids = [value for _, name, value in Elements(page).attributes if name == "id"]
        assert len(ids) == len(set(ids))


def test_the_page_refers_to_nothing_outside_itself(small_run):
    table = score_table(small_run)
    text = to_html(Report("t", "s", [Section("Scores", [table])]), "", score_data(small_run, table, []))
    for _, name, value in Elements(text).attributes:
        if name in ("href", "src", "action", "xlink:href"):
            assert value.startswith(("#", "data:"))


class TestCharts:
    def test_a_chart_is_a_picture_words_and_data(self):
        chart = Chart("some bars", "Title", "Caption", spec=bars, alt=lambda: "One bar.")
        text = to_html(Report("t", "s", [Section("S", charts=[chart])]))
        assert '<figure id="chart-some-bars">' in text
        assert 'aria-label="One bar."' in text and "<p>One bar.</p>" in text and "<p>Caption</p>" in text
        assert list(json.loads(expanded(text, "data"))["charts"]) == ["some-bars"]

    def test_a_chart_of_text_alone_is_left_out(self):
        chart = Chart("lines", "Lines", text=lambda width: ["-"])
        assert "<figure" not in to_html(Report("t", "s", [Section("S", charts=[chart], notes=["n"])]))

    def test_one_of_a_plugin_that_fails_is_a_note_and_the_others_are_drawn(self):
        for spec in [
            lambda: {"mark": "bar", "data": {"url": "https://example.org/data.csv"}},
            lambda: {"no": "view"},
            lambda: {"mark": "no such mark", "data": {"values": [{"a": 1}]}},
            lambda: {"mark": "bar", "data": {"values": [{"a": math.nan}]}, "encoding": {"x": {"field": "a"}}},
            lambda: {"mark": "bar", "data": {"values": [{"a": np.int64(1)}]}},
            lambda: {"mark": "bar", "data": {"values": [{"a": {1, 2}}]}},
            lambda: {"mark": "bar", "data": {"values": []}, "config": ["not", "a", "mapping"]},
            lambda: {"mark": "bar", "data": {"values": []}, "$schema": "vega-lite/v99.9.json"},
            lambda: None,
        ]:
            section = chart_section(spec, bars, plugin="own")
            text = to_html(Report("t", "s", [section]))
            (note,) = re.findall(r'<div class="notes"><p>(.*?)</p></div>', text, flags=re.DOTALL)
            assert re.fullmatch("The chart &#39;bars&#39; of plugin &#39;own&#39; cannot be drawn: .+", note)
            assert text.count("<figure") == 1
            assert list(json.loads(expanded(text, "data"))["charts"]) == ["bars"]

    def test_one_of_ours_that_fails_is_an_error(self):
        with pytest.raises(ValueError, match="specification"):
            to_html(Report("t", "s", [chart_section(lambda: {"no": "view"})]))

    def test_a_plugin_that_uses_the_name_of_another_chart_does_not_replace_it(self):
        ours = chart_section(lambda: bars([{"a": "ours", "b": 1.0}]))
        own = chart_section(*[lambda: bars([{"a": "own", "b": 2.0}])] * 2, plugin="own", name="Bars")
        text = to_html(Report("t", "s", [ours, own]))
        charts = json.loads(expanded(text, "data"))["charts"]
        places = re.findall(r'<figure id="chart-([^"]*)"', text)
        assert len(charts) == len(set(places)) == 3
        assert set(places) == set(charts)
        assert [*charts["bars"]["datasets"].values()] == [[{"a": "ours", "b": 1}]]

    def test_data_have_six_digits(self):
        text = to_html(
            Report("t", "s", [chart_section(lambda: bars([{"a": "x", "b": 1 / 3}, {"a": "y", "b": -2e-9 / 3}]))])
        )
        (rows,) = json.loads(expanded(text, "data"))["charts"]["bars"]["datasets"].values()
        assert [row["b"] for row in rows] == [0.333333, -6.66667e-10]


class TestTables:
    def page(self, values, greater=True, texts=None, percent=True):
        columns = ["dataset", *"ABCD"[: len(values)]]
        cells = [Cell(text) for text in texts or map(str, values)]
        table = Table(columns, [[Cell("iris"), *cells], [Cell("rank"), *cells]], footer_rows=1)
        names = columns[1:]
        missing = [["failed" if value is None else "" for value in values]]
        data = ScoreData(table, 1, "m", greater, ["iris"], names, [values], missing, [], [], [], percent=percent)
        return to_html(Report("t", "s", [Section("S", [table])]), "", data)

    def heats(self, text):
        return [float(heat) for heat in re.findall(r'style="--h:([^"]*)"', text)]

    def test_the_best_of_a_row_has_a_full_bar_and_twenty_points_below_it_is_an_empty_one(self):
        assert self.heats(self.page([0.5, 0.9, 0.85])) == [0.0, 1.0, 0.75]
        assert self.heats(self.page([0.5, 0.6, 0.55], greater=False)) == [1.0, 0.5, 0.75]

    def test_the_worst_of_a_row_has_an_empty_bar_unless_scores_are_shares(self):
        assert self.heats(self.page([10.0, 30.0, 15.0], greater=False, percent=False)) == [1.0, 0.0, 0.75]

    def test_of_more_than_three_that_tie_none_has_the_colour_of_the_best(self):
        assert "tied" not in self.page([0.9, 0.9, 0.9, 0.5]).partition("<tbody>")[2].partition("</tbody>")[0]
        assert self.page([0.9, 0.9, 0.9, 0.9]).partition("<tbody>")[2].partition("</tbody>")[0].count(" tied") == 4

    def test_equal_values_have_full_bars_and_missing_ones_none(self):
        assert self.heats(self.page([0.5, 0.5])) == [1.0, 1.0]
        text = self.page([0.85, None, 0.9])
        assert re.findall(r'data-value="([^"]*)"', text) == ["0.85", "0.9"]
        assert self.heats(text) == [0.75, 1.0]

    def test_totals_stand_in_the_foot_without_values(self):
        foot = self.page([0.5, 0.9]).partition("<tfoot>")[2].partition("</tfoot>")[0]
        assert '<th scope="row">rank</th>' in foot
        assert "data-value" not in foot

    def test_roles_are_classes(self):
        table = Table(["m", "a"], [[Cell("A"), Cell("1", "best")], [Cell("B"), Cell("2")]])
        text = to_html(Report("t", "s", [Section("S", [table])]))
        assert '<td class="best">1</td>' in text and "<td>2</td>" in text
        assert 'id="scores"' not in text

    def test_a_column_of_text_is_marked(self):
        table = Table(["m", "words", "a"], [[Cell("A"), Cell("long"), Cell("1")]], wrap=1)
        text = to_html(Report("t", "s", [Section("S", [table])]))
        assert '<td class="text">long</td><td>1</td>' in text
        assert '<th scope="col" class="text">words</th><th scope="col">a</th>' in text

    def test_a_section_without_content_is_left_out(self):
        text = to_html(Report("t", "s", [Section("Nothing to see", data={"x": dict}), Section("Full", notes=["n"])]))
        assert "Nothing to see" not in text
        assert '<a href="#section-2">Full</a>' in text and '<section id="section-2"' in text
