"""Templates: every value is escaped, and none may be missing."""

import jinja2
import pytest

from mfbench.model.sections import Report
from mfbench.report.render.html.page import asset, render


def test_values_are_escaped():
    text = render("gallery.html", entries=[], problems=["<b>&\"'"], style="")
    assert "<li>&lt;b&gt;&amp;&#34;&#39;</li>" in text


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="problems"):
        render("gallery.html", entries=[], style="")
    with pytest.raises(jinja2.UndefinedError):
        render("fragment.html", report=Report("t", "s", []))


def test_braces_in_a_value_are_no_template():
    assert "<li>{{ 7 * 7 }}{% raw %}</li>" in render(
        "gallery.html", entries=[], problems=["{{ 7 * 7 }}{% raw %}"], style=""
    )


def test_a_file_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        asset("nothing.html")


@pytest.mark.parametrize("name", ["page.js", "style.css"])
def test_what_is_put_into_an_element_cannot_end_it(name):
    assert "</script" not in asset(name).lower()
    assert "</style" not in asset(name).lower()
    assert "<!--" not in asset(name)
    assert "\r" not in asset(name)
