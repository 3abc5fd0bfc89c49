"""Drawing a chart to a file, as scripts and plugins do."""

from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest

import mfbench
from mfbench.errors import MfbenchError, UsageError
from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import save_chart


def dot(**changes):
    data = pd.DataFrame({"x": [1], "y": [2], "name": ["<b> & {{7*7}}"]})
    spec = alt.Chart(data).mark_text().encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Text("name:N"))
    return Chart(**{"name": "dot", "title": "A dot </title>", "spec": lambda: spec, **changes})


def texts(path):
    return ["".join(e.itertext()) for e in ElementTree.parse(path).iter() if e.tag.endswith("}text")]


def test_it_is_part_of_the_interface():
    assert mfbench.save_chart is save_chart and mfbench.Chart is Chart


def test_the_suffix_names_the_form(subtests, tmp_path):
    for name, begin in [("dot.svg", b"<svg"), ("dot.pdf", b"%PDF-"), ("dot.png", b"\x89PNG"), ("DOT.SVG", b"<svg")]:
        with subtests.test(name=name, begin=begin):
            path = save_chart(dot(), tmp_path / name)
            assert path == tmp_path / name
            assert path.read_bytes().startswith(begin)


def test_the_title_is_the_heading_and_names_are_plain_text(tmp_path):
    assert {"A dot </title>", "<b> & {{7*7}}"} <= set(texts(save_chart(dot(), str(tmp_path / "dot.svg"))))


def test_an_existing_file_is_replaced(tmp_path):
    path = tmp_path / "dot.svg"
    path.write_text("old")
    save_chart(dot(), path)
    assert texts(path)


def test_another_suffix_is_an_error(subtests, tmp_path):
    for name in ["dot", "dot.jpg", "dot.svg.gz", ".svg"]:
        with subtests.test(name=name):
            with pytest.raises(UsageError, match=r"has no suffix of a picture: use \.svg, \.pdf or \.png"):
                save_chart(dot(), tmp_path / name)
            assert not list(tmp_path.iterdir())


def test_what_cannot_be_drawn_is_an_error_and_leaves_no_file(subtests, tmp_path):
    for spec, message in [
        (None, "has no specification"),
        (lambda: "no chart", "must be an Altair chart or a dictionary"),
        (lambda: {"data": {"url": "https://example.org/data.csv"}, "mark": "point"}, "External data url not allowed"),
        (lambda: {"data": {"values": []}, "mark": "no-such-mark"}, "conversion failed|not valid"),
    ]:
        with subtests.test(spec=spec, message=message):
            with pytest.raises(UsageError, match=message):
                save_chart(dot(spec=spec), tmp_path / "dot.svg")
            assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    path = tmp_path / "missing" / "dot.svg"
    with pytest.raises(MfbenchError) as caught:
        save_chart(dot(), path)
    assert str(caught.value) == f"cannot write {path}: No such file or directory"
    assert not isinstance(caught.value, UsageError)
