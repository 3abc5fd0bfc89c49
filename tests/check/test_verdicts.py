"""The nouns of a check run are plain data that cross processes."""

import pickle

import pytest

from mfbench_check.display import CheckFailedError, CheckOutcome, CheckVerdict

VERDICT = CheckVerdict(subject="a", kind="selector", package="p", check="fit", outcome=CheckOutcome.FAIL, seen="x")


def test_a_verdict_arrives_from_a_child_as_it_was_sent():
    assert pickle.loads(pickle.dumps(VERDICT)) == VERDICT


def test_an_outcome_is_its_text():
    assert [str(outcome) for outcome in CheckOutcome] == [
        "pass",
        "fail",
        "expected failure",
        "skipped",
        "not applicable",
    ]


def test_a_failure_keeps_its_parts():
    with pytest.raises(CheckFailedError, match="expected a; seen: b") as failure:
        raise CheckFailedError("a", "b", "c")
    assert (failure.value.expected, failure.value.seen, failure.value.snippet) == ("a", "b", "c")
