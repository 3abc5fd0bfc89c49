"""The result of a check run: exit codes, JSON that the schema describes, and JUnit XML."""

import json
from xml.etree import ElementTree

from jsonschema import Draft202012Validator

from mfbench_check.display import NAME, VERSION, CheckOutcome, CheckReport, CheckVerdict, explanation, schema


def verdict(outcome, check="fit", **texts):
    return CheckVerdict(subject="a", kind="selector", package="p", check=check, outcome=outcome, seconds=0.5, **texts)


REPORT = CheckReport(
    (
        verdict(CheckOutcome.PASS, reason="two fits"),
        verdict(CheckOutcome.FAIL, "growth", expected="x", seen="\x1b\ud800", snippet="assert False"),
        verdict(CheckOutcome.EXPECTED, "factory", reason="why"),
        verdict(CheckOutcome.SKIPPED, "support", reason="slow"),
        verdict(CheckOutcome.NOT_APPLICABLE, "grid", reason="no grid"),
    ),
    seed=3,
    versions={"python": "3.13"},
    seconds=2.0,
)


def test_the_exit_code():
    for outcomes, code in [
        ([], 3),
        ([CheckOutcome.PASS], 0),
        ([CheckOutcome.EXPECTED], 0),
        ([CheckOutcome.SKIPPED, CheckOutcome.NOT_APPLICABLE], 3),
        ([CheckOutcome.PASS, CheckOutcome.FAIL], 1),
    ]:
        assert CheckReport(tuple(map(verdict, outcomes))).exit_code == code


def test_the_headline_begins_with_what_failed():
    assert REPORT.headline == (
        "5 checks of 1 subject: 1 failed, 1 passed, 1 failed as declared, 1 skipped, 1 not applicable"
    )
    assert "--package mfbench" in CheckReport(()).headline


def test_the_explanation_of_a_failure_without_code_ends_with_what_was_seen():
    assert explanation(verdict(CheckOutcome.FAIL, expected="x", seen="y")).splitlines()[-1] == "seen: y"


class TestJson:
    def test_the_document_is_what_the_schema_describes(self):
        Draft202012Validator.check_schema(schema())
        Draft202012Validator(schema()).validate(json.loads(REPORT.to_json()))
        Draft202012Validator(schema()).validate(json.loads(CheckReport(()).to_json()))

    def test_the_schema_has_every_outcome_kind_and_field(self):
        from mfbench_check.catalog import KINDS

        properties = schema()["$defs"]["verdict"]["properties"]
        assert set(properties) == {"group", *CheckVerdict.__dataclass_fields__}
        assert (
            properties["outcome"]["enum"] == list(CheckOutcome) == list(schema()["properties"]["counts"]["properties"])
        )
        assert properties["kind"]["enum"] == list(KINDS)

    def test_the_schema_describes_every_key_and_requires_it(self):
        for part in (schema(), schema()["$defs"]["verdict"], schema()["properties"]["counts"]):
            assert set(part["required"]) == set(part["properties"])
            assert all(key.get("description") for key in part["properties"].values())

    def test_the_keys_are_those_of_version_1(self):
        # A key that is removed or changed raises VERSION: programs of users read these.
        assert (NAME, VERSION) == ("mfbench-check", 1)
        content = json.loads(REPORT.to_json())
        assert " ".join(content) == "schema headline exit_code seed seconds versions counts verdicts"
        assert " ".join(content["verdicts"][0]) == (
            "group subject kind package check outcome reason expected seen snippet seconds"
        )

    def test_a_character_that_no_file_accepts_becomes_an_escape(self):
        assert r'"seen": "\u001b\ud800"' in REPORT.to_json()


def test_junit_has_a_case_for_each_verdict():
    (suite,) = ElementTree.fromstring(REPORT.to_junit().encode("utf-8"))
    cases = [(case.get("name"), [child.tag for child in case]) for case in suite.findall("testcase")]
    skipped = [(name, ["skipped"]) for name in ("factory", "support", "grid")]
    assert cases == [("fit", []), ("growth", ["failure"]), *skipped]
    assert suite.find("testcase").get("classname") == "mfbench.selector.a"
    assert "assert False" in suite.find("testcase/failure").text
    assert suite.find("testcase/skipped").get("message") == "expected failure: why"
