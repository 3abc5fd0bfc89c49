"""From a chart to a specification and a file: what is merged, what is refused, and what is drawn."""

import copy
import json
import re
import subprocess
import sys

import altair as alt
import pandas as pd
import pytest
from chart_data import data_of

from mfbench.errors import MfbenchError
from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import CONFIG, FORMATS, drawing_engine, picture, specification

SPEC = {
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}


def chart_of(spec=None, **changes):
    content = SPEC if spec is None else spec
    return Chart("dot", "A dot", spec=lambda: content, **changes)


def altair_chart(frame=None):
    frame = pd.DataFrame({"x": [1], "y": [2]}) if frame is None else frame
    return alt.Chart(frame).mark_point().encode(alt.X("x:Q"), alt.Y("y:Q"))


@pytest.fixture(params=["dictionary", "altair"])
def chart(request):
    """The same chart from a dictionary and from Altair."""
    return chart_of(SPEC if request.param == "dictionary" else altair_chart())


class TestSpecification:
    def test_a_dictionary_and_an_altair_chart_have_data_and_marks(self, chart):
        content = specification(chart)
        json.dumps(content)
        mark = content["mark"] if isinstance(content["mark"], str) else content["mark"]["type"]
        assert mark == "point"
        assert data_of(content).to_dict("records") == [{"x": 1, "y": 2}]

    def test_the_dictionary_itself_is_not_changed(self):
        before = copy.deepcopy(SPEC)
        specification(chart_of(SPEC), "A heading")["encoding"].clear()
        assert before == SPEC

    def test_the_description_is_what_the_chart_says_of_itself(self):
        assert specification(chart_of(alt=lambda: "One dot at (1, 2)."))["description"] == "One dot at (1, 2)."
        assert specification(chart_of())["description"] == "A dot"

    def test_a_heading_is_the_title_and_there_is_none_without(self, chart):
        assert specification(chart, "A heading")["title"]["text"] == "A heading"
        assert "title" not in specification(chart)

    def test_the_settings_of_all_charts_are_added(self, chart):
        config = specification(chart)["config"]
        assert config["font"] == CONFIG["font"] and config["axis"] == CONFIG["axis"]

    def test_own_settings_take_precedence_over_those_of_all_charts(self):
        own = {"background": "#eeeeee", "axis": {"labelFontSize": 20}, "bar": {"color": "red"}}
        config = specification(chart_of({**SPEC, "config": own}))["config"]
        assert (config["background"], config["bar"]) == ("#eeeeee", {"color": "red"})
        assert config["axis"] == {**CONFIG["axis"], "labelFontSize": 20}
        assert CONFIG["background"] == "white"

    def test_a_chart_without_a_specification_is_refused(self):
        with pytest.raises(ValueError, match="'dot' has no specification"):
            specification(Chart("dot", "A dot"))

    def test_what_is_no_specification_is_refused(self):
        for spec in [{}, {"data": {"values": []}}, "a chart", [SPEC], 3]:
            with pytest.raises(ValueError, match="'dot' must be an Altair chart or a dictionary"):
                specification(chart_of(spec))

    def test_columns_of_the_data_may_have_any_name(self):
        for name in ["url", "href", "image", "mark"]:
            frame = pd.DataFrame({"x": [1], "y": [2], name: ["https://example.org"]})
            assert data_of(specification(chart_of(altair_chart(frame))))[name].tolist() == ["https://example.org"]
            rows = {"data": {"values": [{"x": 1, "y": 2, name: "image"}]}}
            assert data_of(specification(chart_of({**SPEC, **rows})))[name].tolist() == ["image"]

    def test_there_may_be_many_rows(self):
        frame = pd.DataFrame({"x": range(5001), "y": 0})
        assert len(data_of(specification(chart_of(altair_chart(frame))))) == 5001


class TestPicture:
    def test_each_form_is_what_it_says(self, chart):
        for form, begin in [("svg", b"<svg"), ("pdf", b"%PDF-"), ("png", b"\x89PNG\r\n\x1a\n")]:
            assert picture(chart, form).startswith(begin)

    def test_these_are_all_forms(self):
        assert set(FORMATS) == {"svg", "pdf", "png"}

    def test_it_is_the_same_every_time(self, chart):
        assert picture(chart, "svg", "A heading") == picture(chart, "svg", "A heading")

    def test_the_heading_is_text(self, words_of):
        assert "<b> & {{7*7}}" in words_of(Chart("dot", "<b> & {{7*7}}", spec=altair_chart))

    def test_it_refers_to_nothing_outside(self, chart):
        svg = picture(chart).decode()
        assert not re.search(r"https?://(?!www\.w3\.org/)|url\((?!#)|@font-face|<script|<image", svg)

    @pytest.mark.parametrize("form", FORMATS)
    def test_data_outside_are_not_loaded(self, form):
        with pytest.raises(ValueError):
            picture(chart_of({**SPEC, "data": {"url": "https://example.org/data.csv"}}), form)

    @pytest.mark.parametrize("form", FORMATS)
    def test_an_invalid_specification_is_an_error(self, form):
        with pytest.raises(ValueError):
            picture(chart_of({**SPEC, "mark": {"type": "no-such-mark"}}), form)


class TestData:
    def test_layers_are_one_below_the_other_and_equal_ones_are_one(self):
        same, other = altair_chart(), altair_chart(pd.DataFrame({"x": [3], "z": [4]}))
        frame = data_of(specification(chart_of(alt.layer(same, same, other))))
        assert list(frame.columns) == ["x", "y", "z"]
        assert frame["x"].tolist() == [1, 3]

    def test_data_of_all_panels_are_found(self):
        panels = alt.vconcat(altair_chart(), altair_chart(pd.DataFrame({"x": [5], "y": [6]})))
        assert data_of(specification(chart_of(panels)))["x"].tolist() == [1, 5]

    @pytest.mark.parametrize("content", [{}, {"data": {"values": []}}, {"data": {"name": "unknown"}, "datasets": {}}])
    def test_no_data_is_an_empty_frame(self, content):
        assert not len(data_of(content))


class TestTheEngineOfTheDrawings:
    def test_one_that_cannot_start_is_an_error_and_does_not_end_this_process(self, monkeypatch):
        drawing_engine.cache_clear()
        monkeypatch.setattr("mfbench.report.charts.drawing.has_limited_addresses", lambda: True)
        monkeypatch.setattr("mfbench.report.charts.drawing._TRIAL", ("os:_exit", 5))
        with pytest.raises(MfbenchError, match=r"the drawing library cannot start, .* raise the limit"):
            picture(chart_of())

    @pytest.mark.slow(reason="starts two processes")
    @pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
    def test_a_limited_address_space(self):
        code = (
            "import resource; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
            "from mfbench.report.charts.drawing import drawing_engine\ndrawing_engine()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "MfbenchError: the drawing library cannot start" in done.stderr
