"""Templates: every value is escaped, and none may be missing."""

import jinja2
import pytest

from mfbench.model.sections import Report
from mfbench.report.render.html.page import asset, render


def test_values_are_escaped():
    text = render("fragment.html", report=Report("<b>&\"'", "s", []), sections=[])
    assert "<strong>&lt;b&gt;&amp;&#34;&#39;</strong>" in text


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="sections"):
        render("fragment.html", report=Report("t", "s", []))


def test_braces_in_a_value_are_no_template():
    text = render("fragment.html", report=Report("{{ 7 * 7 }}{% raw %}", "s", []), sections=[])
    assert "<strong>{{ 7 * 7 }}{% raw %}</strong>" in text


def test_a_file_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        asset("nothing.html")


@pytest.mark.parametrize("name", ["page.js", "style.css"])
def test_what_is_put_into_an_element_cannot_end_it(name):
    assert "</script" not in asset(name).lower()
    assert "</style" not in asset(name).lower()
    assert "<!--" not in asset(name)
    assert "\r" not in asset(name)
