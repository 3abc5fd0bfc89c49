from opening import failure, opened

from mfbench_check.catalog import CHECKS
from mfbench_check.checks import building
from mfbench_check.display import CheckOutcome
from mfbench_check.running import make_check


def test_an_error_in_a_constructor_is_named():
    error = failure("factory", opened("broken_contract", "constructor-raises", "selector"))
    assert error.seen == "the factory raised OSError: no licence"


def test_an_unknown_parameter_is_named():
    error = failure("factory", opened("broken_contract", "check-parameter-unknown", "classifier"))
    assert "unknown parameter 'n_means'" in error.seen


def test_fit_must_return_the_estimator():
    error = failure("fit", opened("broken_contract", "fit-returns-none", "selector"))
    assert error.seen == "it returned a NoneType"


def test_a_selector_must_have_importances():
    error = failure("fit", opened("broken_contract", "weights-under-another-name", "selector"))
    assert error.seen == "there is no such attribute"


def test_a_method_whose_package_is_not_installed_is_skipped(monkeypatch):
    monkeypatch.setattr(building, "missing_packages", lambda spec: ["no_such", "other"])
    verdict = make_check(CHECKS["factory"], opened("broken_contract", "constructor-raises", "selector"))
    assert verdict.outcome == CheckOutcome.SKIPPED
    assert verdict.reason == "it needs what is not installed: no_such, other"
