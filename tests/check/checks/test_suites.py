"""Each mistake of a suite is found by exactly the check named for it."""

import pytest

from mfbench.errors import SuiteError, UsageError
from mfbench.host.registry import load_registry
from mfbench_check.catalog import CHECKS, all_checks
from mfbench_check.display import CheckOutcome
from mfbench_check.running import UNMET, make_check
from mfbench_check.subjects import Opened, Subject

MISTAKES = {
    "not-toml": ("suite-valid", "not valid TOML"),
    "invalid-profile": ("suite-valid", "profiles.long.foldz: the protocol 'repeated-cv' has no such key"),
    "profile-without-data": ("suite-valid", "the profile 'long' has no datasets"),
    "unknown-method": ("suite-names", "did you mean 'knn'"),
    "unknown-dataset": ("suite-names", "did you mean 'iris'"),
    "unknown-parameter": ("suite-names", "unknown parameter 'neighbours'"),
    "part-without-match": ("suite-names", "'irsi' matches nothing: did you mean 'iris'"),
    "too-many-folds": ("suite-plan", "60"),
}


@pytest.fixture(scope="module")
def verdicts_of():
    registry = load_registry(only=["unsound_suites", "datasets", "baselines"])

    def run(name):
        plugin = next(one for one in registry.plugins.values() if one.name == "unsound_suites")
        opened = Opened(Subject("suite", name, plugin), registry)
        unmet, verdicts = set(), {}
        for check in all_checks():
            if "suite" in check.kinds:
                verdicts[check.id] = verdict = make_check(CHECKS[check.id], opened, unmet)
                unmet |= {check.id} if verdict.outcome in UNMET else set()
        return verdicts

    return run


def test_a_mistake_is_caught_by_the_check_named_for_it(verdicts_of):
    for name in MISTAKES:
        check, text = MISTAKES[name]
        failed = [verdict for verdict in verdicts_of(name).values() if verdict.outcome is CheckOutcome.FAIL]
        assert [verdict.check for verdict in failed] == [check], [(one.check, one.seen) for one in failed]
        assert text in failed[0].seen
        assert "\n" not in failed[0].seen


@pytest.mark.parametrize("name", MISTAKES)
def test_the_snippet_shows_the_mistake(name, verdicts_of, monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "unsound_suites,datasets,baselines")
    check, _ = MISTAKES[name]
    with pytest.raises((AssertionError, SuiteError, UsageError)):
        exec(verdicts_of(name)[check].snippet, {})


def test_a_sound_suite_passes_and_names_its_profiles(verdicts_of):
    verdicts = verdicts_of("sound-suite")
    assert {one.outcome for one in verdicts.values()} == {CheckOutcome.PASS}
    assert verdicts["suite-valid"].reason == "quick, standard, full"


def test_a_suite_whose_data_are_elsewhere_has_no_plan(verdicts_of, monkeypatch, tmp_path):
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("MFBENCH_DATA_DIR", raising=False)
    verdict = verdicts_of("far-away")["suite-plan"]
    assert verdict.outcome is CheckOutcome.NOT_APPLICABLE
    assert "openml:999999" in verdict.reason


def test_of_many_replicates_a_few_are_planned(verdicts_of, monkeypatch):
    from mfbench_check.checks import data as suites

    lengths = []
    original = suites.make_plan
    monkeypatch.setattr(suites, "make_plan", lambda *args: lengths.append(len(args[2])) or original(*args))
    verdicts_of("replicates")
    assert set(lengths) == {suites.ALIKE}
