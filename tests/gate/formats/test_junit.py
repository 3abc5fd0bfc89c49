"""JUnit XML: one test case per cell, valid by the rules that the common schemas share."""

import re
from xml.etree import ElementTree

from mfbench_gate.formats import to_junit

REQUIRED = {"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "id", "package"}
ALLOWED = {
    "testsuites": (set(), ["testsuite"]),
    "testsuite": (REQUIRED | {"skipped"}, ["properties", "testcase", "system-out", "system-err"]),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"name", "classname", "time"}, ["skipped", "failure"]),
    "failure": ({"message", "type"}, []),
    "skipped": ({"message"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}


def checked(text):
    """Parse a document and check elements, attributes, their order and the counts."""
    root = ElementTree.fromstring(text.encode("utf-8"))
    for element in root.iter():
        attributes, children = ALLOWED[element.tag]
        assert set(element.attrib) <= attributes, element.tag
        positions = [children.index(child.tag) for child in element]
        assert positions == sorted(positions), f"order in {element.tag}"
    (suite,) = root
    assert set(suite.attrib) >= REQUIRED
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert re.fullmatch(r"\d+(\.\d+)?", suite.get("time"))
    assert all(suite.find(part) is not None for part in ("properties", "system-out", "system-err"))
    assert all(len(case) <= 1 for case in suite.findall("testcase"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert all(case.get("name") and case.get("classname") for case in suite.findall("testcase"))
    return suite


def outcomes(suite):
    return [
        (case.get("classname"), case.get("name"), [child.tag for child in case]) for case in suite.findall("testcase")
    ]


def test_one_case_per_cell(comparison):
    suite = checked(to_junit(comparison))
    assert outcomes(suite) == [
        ("mfbench.time", "RFF/wine", ["failure"]),
        ("mfbench.time", "1NN/wine", []),
        ("mfbench.accuracy", "1NN/wine", ["failure"]),
        ("mfbench.memory", "RFF/wine", ["skipped"]),
        ("mfbench.accuracy", "LFE/wine", ["failure"]),
    ]
    failure = suite.find("testcase/failure")
    assert failure.get("type") == "worse"
    assert failure.get("message") == "worse: +20.0 % (+15.0 … +25.0); slower than the limit"
    assert "limit: 1.05" in failure.text
    assert suite.get("time") == "61.500"
    assert "RFF/iris: 10 of 10 trials failed in head" in suite.find("system-out").text


def test_an_undecided_cell_is_skipped_if_it_does_not_count_as_a_failure(comparison):
    comparison.undecided_ok = True
    suite = checked(to_junit(comparison))
    case = suite.findall("testcase")[2]
    assert case.find("skipped").get("message") == "undecided: -0.0100; may lose up to 0.03"


def test_hostile_names_are_valid(hostile):
    suite = checked(to_junit(hostile))
    assert suite.findall("testcase")[0].get("name").startswith("a|b")
    assert r"\x1b" in suite.findall("testcase")[0].get("name")


def test_nothing_compared(comparison):
    comparison.cells, comparison.title = [], ""
    assert checked(to_junit(comparison)).get("name") == "comparison"


def test_characters_that_xml_cannot_contain_become_escapes(comparison):
    for sign in ["\x00", "\x0b", "\x1f", "\ufffe", "\uffff", "\udc80"]:
        comparison.notes = [f"before{sign}after"]
        assert re.search(r"before\\[xu]\w+after", checked(to_junit(comparison)).find("system-out").text)
