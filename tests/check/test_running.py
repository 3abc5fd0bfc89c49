"""Checks run in child processes: a crash or a hang is the verdict of one check, not the end of a run."""

import os
import threading
import time

import pytest

from mfbench.host.expressions import Plugin
from mfbench.host.registry import load_registry
from mfbench_check.catalog import CHECKS, Check, all_checks
from mfbench_check.display import CheckOutcome, CheckVerdict
from mfbench_check.running import Options, checks_of, judged, run_checks
from mfbench_check.subjects import Subject, subjects_of

ONLY = ["factory", "fit", "importances-array"]


@pytest.fixture(scope="module")
def registry():
    return load_registry(only=["unruly_methods", "correct_methods"])


def run(registry, *names, only=ONLY, **options):
    return run_checks(subjects_of(registry, names), registry, Options(jobs=1, **options), only)


def outcomes(verdicts):
    return {verdict.check: verdict.outcome for verdict in verdicts}


def test_verdicts_are_in_the_order_of_subjects_and_checks(registry):
    verdicts = run(registry, "nearest-mean", "mean-gap")
    expected = [("nearest-mean", "factory"), ("nearest-mean", "fit"), *(("mean-gap", name) for name in ONLY)]
    assert [(verdict.subject, verdict.check) for verdict in verdicts] == expected
    assert set(outcomes(verdicts).values()) == {CheckOutcome.PASS}


def test_a_check_that_ends_the_process_fails_and_the_next_ones_run_in_another(registry):
    verdicts = run(registry, "exits")
    assert outcomes(verdicts) == {
        "factory": CheckOutcome.PASS,
        "fit": CheckOutcome.FAIL,
        "importances-array": CheckOutcome.SKIPPED,
    }
    assert "exit code 7" in verdicts[1].seen


def test_a_check_that_takes_too_long_fails(registry):
    start = time.monotonic()
    verdicts = run(registry, "hangs", seconds=2.0)
    assert outcomes(verdicts)["fit"] is CheckOutcome.FAIL
    assert "longer than 2 s" in verdicts[1].seen
    assert time.monotonic() - start < 60


def test_what_a_method_prints_does_not_reach_the_report(registry, capfd):
    assert outcomes(run(registry, "prints"))["fit"] is CheckOutcome.PASS
    assert "noise" not in capfd.readouterr().out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the method forks")
def test_a_method_that_forks_has_each_verdict_once(registry):
    assert outcomes(run(registry, "forks")) == dict.fromkeys(ONLY, CheckOutcome.PASS)
    assert len(run(registry, "forks")) == len(ONLY)


def test_a_skipped_check_has_the_reason_of_the_user_and_skips_what_needs_it_no_further(registry):
    verdicts = run(registry, "mean-gap", skip={"fit": "broken here"})
    assert verdicts[1].reason == "broken here"
    assert outcomes(verdicts)["importances-array"] is CheckOutcome.PASS


def test_each_verdict_is_followed_at_once(registry):
    followed = []
    subjects = subjects_of(registry, ["mean-gap"])
    verdicts = run_checks(subjects, registry, Options(jobs=1), ONLY, followed.append)
    assert followed == verdicts


def test_an_interrupt_ends_the_run_without_waiting_for_the_check(registry):
    def interrupt(verdict):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_checks(subjects_of(registry, ["hangs", "mean-gap"]), registry, Options(jobs=2), ONLY, interrupt)
    assert time.monotonic() - start < 60
    assert not [thread for thread in threading.enumerate() if "ThreadPool" in thread.name]


@pytest.mark.filterwarnings("ignore")
def test_a_plugin_that_cannot_be_imported_fails_without_a_child():
    registry = load_registry(only=["raising_plugin"])
    (verdict,) = run_checks(subjects_of(registry, ["raising_plugin"]), registry, Options())
    assert (verdict.check, verdict.outcome) == ("registration", CheckOutcome.FAIL)
    assert "no module named torch" in verdict.seen


class TestDeclaredFailures:
    def judged(self, outcome, check="fit"):
        verdict = CheckVerdict(subject="a", kind="selector", package="p", check=check, outcome=outcome, reason="r")
        return judged(verdict, {"fit": "it samples rows"})

    def test_a_declared_failure_is_expected(self):
        verdict = self.judged(CheckOutcome.FAIL)
        assert (verdict.outcome, verdict.reason) == (CheckOutcome.EXPECTED, "it samples rows")

    @pytest.mark.parametrize("outcome", [CheckOutcome.PASS, CheckOutcome.NOT_APPLICABLE])
    def test_a_declared_check_that_does_not_fail_is_a_failure(self, outcome):
        verdict = self.judged(outcome)
        assert verdict.outcome is CheckOutcome.FAIL
        assert "remove 'fit' from expected_failures" in verdict.seen

    def test_a_skipped_check_may_be_declared(self):
        assert self.judged(CheckOutcome.SKIPPED).outcome is CheckOutcome.SKIPPED

    def test_what_is_not_declared_stays(self):
        assert self.judged(CheckOutcome.FAIL, "seed").outcome is CheckOutcome.FAIL


def test_a_kind_has_the_checks_that_apply_to_it():
    table = [Check("a", "contract", ("suite",), print), Check("b", "contract", ("suite", "dataset"), print)]
    assert [one.id for one in checks_of(Subject("dataset", "x", Plugin("p", "p")), table)] == ["b"]
    assert {one.id for one in all_checks()} == set(CHECKS)
