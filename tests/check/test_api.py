"""`check_plugins`: what is chosen, what is refused, and how the run is reported."""

import pytest

import mfbench
from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench_check.api import check_plugins, chosen_subjects, make_options, parse_skips
from mfbench_check.display import CheckOutcome

PLUGIN = """
from mfbench import SelectorSpec, hookimpl
from sklearn.feature_selection import VarianceThreshold

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="demo", summary="Demo", factory=VarianceThreshold)]
"""


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Load only modules with these texts."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", ",".join(texts) or "baselines")

    return load


def test_without_names_only_third_parties_are_checked(plugins):
    plugins(checking_demo=PLUGIN)
    registry = load_registry(only=["checking_demo", "baselines"])
    subjects = [(one.kind, one.name) for one in chosen_subjects(registry)]
    assert subjects == [("plugin", "checking_demo"), ("selector", "demo")]


def test_without_third_parties_nothing_is_checked(plugins):
    plugins()
    report = check_plugins()
    assert (report.verdicts, report.exit_code) == ((), 3)


def test_a_single_name_may_be_a_text():
    report = mfbench.check_plugins("nearest-centroid", only=["fit"])
    assert [(one.subject, one.check) for one in report.verdicts] == [("nearest-centroid", "fit")]


def test_duplicate_names_are_checked_once():
    assert len(check_plugins(["nearest-centroid", "nearest-centroid"], only=["fit"]).verdicts) == 1


def test_a_plugin_that_cannot_be_imported_is_a_failed_check_of_its_own(plugins):
    plugins(checking_broken="raise ImportError('no torch')")
    for choice in ({}, {"package": "checking_broken"}, {"names": ["checking_broken"]}):
        report = check_plugins(**choice)
        (verdict,) = report.failures
        assert (verdict.subject, verdict.check, report.exit_code) == ("checking_broken", "registration", 1)
        assert "no torch" in verdict.seen


def test_what_is_left_out_of_a_plugin_that_is_not_checked_is_a_warning(plugins):
    plugins(checking_broken="raise ImportError('no torch')", checking_demo=PLUGIN)
    with pytest.warns(match="no torch"):
        check_plugins("demo", only=["fit"])


def test_an_unknown_name_comes_with_the_warning_that_explains_it(plugins):
    plugins(checking_broken="raise ImportError('no torch')")
    with pytest.warns(match="no torch"), pytest.raises(UnknownNameError):
        check_plugins("demo")


def test_a_failure_does_not_keep_another_subject_from_its_verdict(plugins):
    plugins(checking_demo=PLUGIN)
    report = check_plugins(only=["registration", "factory", "fit"])
    assert {(one.subject, one.check): one.outcome for one in report.verdicts} == {
        ("checking_demo", "registration"): CheckOutcome.PASS,
        ("demo", "factory"): CheckOutcome.PASS,
        ("demo", "fit"): CheckOutcome.FAIL,
    }


def test_the_follower_gets_the_number_of_verdicts():
    followed = []
    check_plugins(
        "nearest-centroid", only=["factory", "fit"], follow=lambda one, total: followed.append((one.check, total))
    )
    assert followed == [("factory", 2), ("fit", 2)]


def test_versions_name_the_libraries_and_the_packages_checked():
    versions = check_plugins("nearest-centroid", only=["factory"], seed=4).versions
    assert {"python", "mfbench", "numpy", "scikit-learn"} <= set(versions)


class TestRefusals:
    def test_an_option_that_makes_no_sense_is_one_sentence(self):
        for options, part in [
            ({"seed": -1}, "the seed -1 is out of range"),
            ({"seed": 2**32}, "out of range"),
            ({"timeout": 0.0}, "the time limit 0 s is not positive"),
            ({"timeout": float("nan")}, "not positive"),
            ({"jobs": -1}, "use 0 for one per processor"),
            ({"skip": {"growth": " "}}, "without a reason"),
            ({"skip": {"grwoth": "slow"}}, "did you mean 'growth'"),
        ]:
            with pytest.raises(UsageError, match=part):
                make_options(**options)

    def test_a_check_that_does_not_exist_is_suggested(self):
        with pytest.raises(UnknownNameError, match="did you mean 'fit'"):
            check_plugins("nearest-centroid", only=["fitt"])

    def test_a_skip_without_a_reason_names_the_form(self):
        with pytest.raises(UsageError, match="write CHECK=REASON, such as 'growth=too slow'"):
            parse_skips(["growth"])


def test_a_reason_may_contain_the_sign():
    assert parse_skips(["growth=n=10 is slow"]) == {"growth": "n=10 is slow"}
