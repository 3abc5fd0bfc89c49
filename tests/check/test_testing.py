"""`parametrize_plugin`: one test for each check of each subject, collected without running anything."""

import textwrap

import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.expressions import Plugin
from mfbench.testing import SingleCheck, parametrize_plugin
from mfbench_check.catalog import all_checks
from mfbench_check.display import CheckOutcome, CheckVerdict
from mfbench_check.running import Options
from mfbench_check.subjects import Subject
from mfbench_check.testing import _Results

pytest_plugins = ["pytester"]
all_checks()  # pytester forgets the modules that a run imports

PLUGIN = """
    import numpy as np
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data
    from mfbench import SelectorSpec, hookimpl

    class Range(BaseEstimator):
        def fit(self, X, y):
            X, y = validate_data(self, X, y)
            self.feature_importances_ = np.ptp(X, axis=0) + np.nan
            return self

    @hookimpl
    def mfbench_selectors():
        declared = {"importances-finite": "it is NaN"}
        return [SelectorSpec(name="demo", summary="Range", factory=Range, expected_failures=declared)]
"""
TEST = """
    from mfbench.testing import parametrize_plugin

    @parametrize_plugin("demo", skip={"growth": "slow", "hash-seed": "slow", "scikit-learn": "slow"})
    def test_plugin(check):
        check()
"""


@pytest.fixture
def demo(pytester, monkeypatch):
    pytester.makepyfile(demo_plugin=textwrap.dedent(PLUGIN), test_demo=textwrap.dedent(TEST))
    pytester.syspathinsert()
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "demo_plugin")
    return lambda *args: pytester.runpytest_inprocess("-p", "no:cacheprovider", "--strict-markers", *args)


def test_collecting_has_one_test_for_each_check_and_runs_none(demo, monkeypatch):
    monkeypatch.setattr("mfbench_check.testing.run_checks", lambda *args: pytest.exit("it runs checks"))
    done = demo("--collect-only", "-q")
    done.stdout.fnmatch_lines(["*test_plugin?demo-selector-importances-finite?"])
    assert done.ret == 0


def test_declared_failures_are_expected_and_skipped_checks_have_their_reason(demo):
    done = demo("-rsx", "-k", "importances or growth")
    done.stdout.fnmatch_lines(["SKIPPED*slow*", "XFAIL*importances-finite*it is NaN*"])
    assert done.ret == 0


def single(verdict):
    subject = Subject(verdict.kind, verdict.subject, Plugin("p", "p"))
    results = _Results(None, Options(), {subject: {verdict.check: verdict}})
    return SingleCheck(subject, verdict.check, results)


def verdict(outcome, **texts):
    return CheckVerdict(subject="a", kind="selector", package="p", check="fit", outcome=outcome, **texts)


def test_a_failure_is_an_assertion_with_expected_seen_and_code():
    with pytest.raises(AssertionError) as failure:
        single(verdict(CheckOutcome.FAIL, expected="a fit", seen="ValueError", snippet="assert False"))()
    assert str(failure.value).splitlines() == [
        "selector a fails the check fit",
        "expected: a fit",
        "seen: ValueError",
        "",
        "assert False",
    ]


@pytest.mark.parametrize(
    ("outcome", "exception"),
    [
        (CheckOutcome.SKIPPED, pytest.skip.Exception),
        (CheckOutcome.NOT_APPLICABLE, pytest.skip.Exception),
        (CheckOutcome.EXPECTED, pytest.xfail.Exception),
    ],
)
def test_every_other_outcome_has_its_reason(outcome, exception):
    with pytest.raises(exception, match="because"):
        single(verdict(outcome, reason="because"))()


def test_a_pass_returns():
    assert single(verdict(CheckOutcome.PASS))() is None


def test_the_checks_of_a_subject_run_once(monkeypatch):
    runs = []

    def run_checks(subjects, registry, options):
        runs.append(subjects)
        return [verdict(CheckOutcome.PASS), CheckVerdict(**{**vars(verdict(CheckOutcome.PASS)), "check": "factory"})]

    monkeypatch.setattr("mfbench_check.testing.run_checks", run_checks)
    subject, results = Subject("selector", "a", Plugin("p", "p")), _Results(None, Options())
    SingleCheck(subject, "fit", results)()
    SingleCheck(subject, "factory", results)()
    assert runs == [[subject]]


def test_a_name_that_does_not_exist_is_an_error_of_the_collection():
    with pytest.raises(UnknownNameError, match="did you mean 'knn'"):
        parametrize_plugin("knnn")


def test_a_skip_without_a_reason_is_refused():
    with pytest.raises(UsageError, match="without a reason"):
        parametrize_plugin("knn", skip={"growth": ""})


def test_nothing_to_check_is_an_error(monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "baselines")
    with pytest.raises(UsageError, match="there is nothing to check"):
        parametrize_plugin()
