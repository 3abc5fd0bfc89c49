"""scikit-learn's checks become one verdict; a single one of them can be declared, and must then fail."""

import pytest

from mfbench.host.registry import load_registry
from mfbench_check.checks.scikit_learn import passes_the_estimator_checks
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.subjects import Opened, Subject

NAN = "check_estimators_nan_inf"


@pytest.fixture(scope="module")
def opened():
    registry = load_registry(only=["unsound_estimators", "correct_methods"])
    return lambda name, kind="selector": Opened(Subject(kind, name, registry.entry(kind, name).plugin), registry)


@pytest.mark.parametrize(("name", "kind"), [("mean-gap", "selector"), ("nearest-mean", "classifier")])
def test_a_correct_method_passes(name, kind, opened):
    assert "checks of scikit-learn" in passes_the_estimator_checks(opened(name, kind))


def test_a_failure_has_the_name_of_the_check_by_which_it_can_be_declared(opened):
    with pytest.raises(CheckFailedError) as failure:
        passes_the_estimator_checks(opened("accepts-missing-values"))
    assert f"scikit-learn:{NAN}: " in failure.value.seen
    assert len(failure.value.snippet.splitlines()) <= 10
    assert NAN in failure.value.snippet


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["accepts-missing-values", "declares-too-much"])
def test_the_snippet_shows_the_failure(name, opened, monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "unsound_estimators")
    with pytest.raises(CheckFailedError) as failure:
        passes_the_estimator_checks(opened(name))
    with pytest.raises(AssertionError):
        exec(failure.value.snippet, {})


def test_a_declared_failure_is_a_remark(opened):
    assert passes_the_estimator_checks(opened("declares-it")).endswith(f"as declared, {NAN} fail")


def test_a_declared_check_that_passes_is_a_failure(opened):
    with pytest.raises(CheckFailedError, match=f"{NAN} passes; remove it from expected_failures"):
        passes_the_estimator_checks(opened("declares-too-much"))


def test_a_declared_check_that_this_version_does_not_have_is_ignored(opened):
    assert passes_the_estimator_checks(opened("declares-another-version"))


def test_a_selector_need_not_be_an_estimator_of_scikit_learn(opened):
    with pytest.raises(NotApplicableError, match="has no get_params"):
        passes_the_estimator_checks(opened("plain"))
