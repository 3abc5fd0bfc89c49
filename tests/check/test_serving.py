"""One check becomes a verdict, whatever the plugin does in it."""

from mfbench.host.expressions import Plugin
from mfbench_check.catalog import Check
from mfbench_check.display import CheckFailedError, CheckOutcome, NotApplicableError
from mfbench_check.running import make_check
from mfbench_check.subjects import Opened, Subject

OPENED = Opened(Subject("selector", "a", Plugin("p", "p", "dist")), None)


def made(function, failed=(), needs=()):
    return make_check(Check("one", "contract", ("selector",), function, needs), OPENED, failed)


def raising(error):
    def function(subject):
        raise error

    return function


def test_a_check_that_returns_passes_with_its_remark():
    verdict = made(lambda subject: "seen twice")
    assert (verdict.outcome, verdict.reason, verdict.package) == (CheckOutcome.PASS, "seen twice", "dist")


def test_a_failure_keeps_its_texts():
    verdict = made(raising(CheckFailedError("a", "b", "c")))
    assert (verdict.outcome, verdict.expected, verdict.seen, verdict.snippet) == (CheckOutcome.FAIL, "a", "b", "c")


def test_what_is_not_applicable_has_its_reason():
    verdict = made(raising(NotApplicableError("no grid")))
    assert (verdict.outcome, verdict.reason) == (CheckOutcome.NOT_APPLICABLE, "no grid")


def test_anything_else_that_is_raised_is_a_failure_with_its_place():
    for error in [ValueError("x"), SystemExit(3), KeyboardInterrupt(), MemoryError()]:
        verdict = made(raising(error))
        assert verdict.outcome is CheckOutcome.FAIL
        assert type(error).__name__ in verdict.seen
        assert "test_serving.py, line" in verdict.seen


def test_a_check_is_skipped_if_one_that_it_needs_does_not_pass():
    verdict = made(raising(ValueError), failed={"fit"}, needs=("factory", "fit"))
    assert verdict.outcome is CheckOutcome.SKIPPED
    assert "'fit'" in verdict.reason
