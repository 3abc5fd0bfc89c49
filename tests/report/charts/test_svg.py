"""The elements of charts: text is escaped, documents are valid."""

from xml.etree import ElementTree

from mfbench.report.charts.svg import document, line, numbered_name, text


def test_a_document_is_valid_whatever_its_texts_are():
    hostile = '<img src=x onerror="alert(1)"> & more'
    root = ElementTree.fromstring(document(10, 20, hostile, [text(1, 2, hostile, font_size="11"), line(0, 0, 1, 1)]))
    assert root.find("{*}title").text == hostile
    assert root.find("{*}text").text == hostile
    assert root.find("{*}text").get("font-size") == "11"
    assert (root.get("width"), root.get("height")) == ("10", "20")


def test_names_of_files_are_short_and_plain():
    assert numbered_name("rounds", 3, "../Größe (n=1)" + "x" * 200) == "rounds-03-gr-e-n-1-" + "x" * 71
