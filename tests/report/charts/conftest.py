"""What the tests of all charts need: valid specifications, their data, and names that must come out as plain text."""

from xml.etree import ElementTree

import pytest
from chart_data import data_of

from mfbench.report.charts.drawing import picture, specification

HOSTILE = {
    "markup": ("<img src=x onerror=alert(1)>", "</script>", "<b>&amp;</b>", "]]>"),
    "code": ("{{7*7}}", "a.b[0]", 'it\'s "q"', "datum['x']", "C:\\new", "__proto__"),
}
SHAPES = {"circle", "clipPath", "defs", "g", "line", "linearGradient", "path", "rect", "stop", "svg", "text", "tspan"}


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def hostile(request):
    """Names of datasets, methods and features that a careless renderer would take for markup or code."""
    return request.param


@pytest.fixture(scope="session")
def drawn():
    """Return a function that returns the specification of a chart after validating it against Vega-Lite's schema."""

    def draw(chart):
        chart.spec().to_dict()
        return specification(chart)

    return draw


@pytest.fixture(scope="session")
def rows_of(drawn):
    """Return a function that returns the rows of a chart's data that have all of some columns."""

    def rows(chart, *columns):
        return data_of(drawn(chart))[list(columns)].dropna().values.tolist()

    return rows


@pytest.fixture(scope="session")
def words_of():
    """Return a function that returns the texts of a chart's picture, which has nothing but shapes and text."""

    def words(chart):
        root = ElementTree.fromstring(picture(chart, "svg", chart.title))
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= SHAPES
        attributes = {name for element in root.iter() for name in element.attrib}
        assert not [name for name in attributes if name.startswith("on") or name.endswith("href")]
        return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]

    return words


@pytest.fixture(scope="session")
def check_names(drawn, words_of):
    """Return a function that checks that names are in the picture of a chart as they are; long ones may be cut."""

    def check(chart, names):
        drawn(chart)
        words = words_of(chart)
        for name in names:
            cut = [word[:-1] for word in words if word.endswith("…") and len(word) > 9]
            assert any(name in word for word in words) or any(name.startswith(word) for word in cut), name

    return check
