"""JUnit XML: counts agree with the cases, and no text of a plugin makes a document that cannot be read."""

from xml.etree import ElementTree

from mfbench.base.junit import Case, document, legal


def suite_of(*cases, **options):
    (suite,) = ElementTree.fromstring(document("demo", cases, **options).encode("utf-8"))
    return suite


def test_the_counts_are_those_of_the_cases():
    suite = suite_of(
        Case(group="a", name="1"),
        Case(group="a", name="2", outcome="failed", message="m", kind="k", details="d"),
        Case(group="a", name="3", outcome="skipped", message="why"),
    )
    assert [suite.get(name) for name in ("tests", "failures", "skipped", "errors")] == ["3", "1", "1", "0"]
    failure = suite.find("testcase/failure")
    assert (failure.get("message"), failure.get("type"), failure.text) == ("m", "k", "d")
    assert suite.find("testcase/skipped").get("message") == "why"


def test_a_passed_case_has_no_message():
    assert len(suite_of(Case(group="a", name="1", message="remark"))[1]) == 0


def test_a_time_that_does_not_exist_is_zero(subtests):
    for seconds in [float("nan"), float("inf"), -1.0, 0.0]:
        with subtests.test(seconds=seconds):
            assert suite_of(seconds=seconds).get("time") == "0"


def test_small_times_have_no_exponent():
    assert suite_of(Case(group="a", name="1", seconds=1e-7)).find("testcase").get("time") == "0.000"


def test_characters_that_xml_cannot_contain_become_escapes_everywhere(subtests):
    for sign in ["\x00", "\x0b", "\x1f", "\ufffe", "\uffff", "\udc80"]:
        with subtests.test(sign=sign):
            text = f"a{sign}b"
            case = Case(group=text, name=text, outcome="failed", message=text, kind=text, details=text)
            suite = suite_of(case, properties=[(text, text)], lines=[text])
            assert suite.find("testcase/failure").text == legal(text) == suite.find("system-out").text


def test_a_property_without_a_value_is_left_out():
    assert len(suite_of(properties=[("a", ""), ("b", "c")]).find("properties")) == 1
