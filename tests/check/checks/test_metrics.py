"""Each mistake of a metric is found by exactly the check named for it, and its snippet shows it."""

import unsound_metrics
from opening import registry_of

from mfbench.host.registry import load_registry
from mfbench_check.catalog import all_checks
from mfbench_check.checks.metrics import CLASSES, FORMS, drawn_predictions
from mfbench_check.display import CheckOutcome
from mfbench_check.running import UNMET, make_check
from mfbench_check.subjects import Opened, Subject

MODULE = "unsound_metrics"
MISTAKES = {name: check for name, _, check, _ in unsound_metrics.MISTAKES}


def verdicts_of(name, registry):
    opened = Opened(Subject("metric", name, registry.entry("metric", name).plugin), registry)
    verdicts = []
    for check in all_checks():
        if "metric" in check.kinds:
            verdicts.append(make_check(check, opened, {one.check for one in verdicts if one.outcome in UNMET}))
    return verdicts


def failures_of(name, registry):
    return [one for one in verdicts_of(name, registry) if one.outcome is CheckOutcome.FAIL]


def test_a_mistake_is_caught_by_the_check_named_for_it():
    failed = {name: [one.check for one in failures_of(name, registry_of(MODULE))] for name in MISTAKES}
    assert failed == {name: [check] for name, check in MISTAKES.items()}


def test_the_snippet_shows_the_mistake(monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", MODULE)
    silent = []
    for name in MISTAKES:
        (failure,) = failures_of(name, registry_of(MODULE))
        assert len(failure.snippet.splitlines()) <= 10
        try:
            exec(failure.snippet, {})
        except (AssertionError, TypeError, AttributeError, IndexError):
            continue
        silent.append(name)
    assert set(silent) == {"no_summary", "unknown_check", "not_there"}  # the text names the mistake


def test_a_sound_metric_fails_nothing():
    registry = registry_of(MODULE)
    assert not {
        name: failures_of(name, registry) for name, _, _ in unsound_metrics.SOUND if failures_of(name, registry)
    }


def test_the_built_in_metrics_pass():
    registry = load_registry(only=())
    failed = {(name, one.check): one.seen for name in registry.listed("metric") for one in failures_of(name, registry)}
    assert not failed


def test_drawn_predictions():
    for form in FORMS["predictions"]:
        for n_classes in CLASSES:
            ordinary, perfect, chance = (
                drawn_predictions(form, n_classes, case) for case in ("ordinary", "perfect", "by chance")
            )
            right = [(one.y_true == one.y_pred).mean() for one in (perfect, ordinary, chance)]
            assert right[0] == 1.0 > right[1] > right[2]
            assert set(drawn_predictions(form, n_classes, "one class").y_true) == {0}
            unseen = drawn_predictions(form, n_classes, "a class without training rows")
            assert set(unseen.y_true) - set(unseen.classes) == {n_classes}
            assert (drawn_predictions(form, n_classes, "reversed").y_pred == ordinary.y_pred[::-1]).all()
            if form == "decisions":
                assert ordinary.y_score.shape == ((120,) if n_classes == 2 else (120, n_classes))
                assert not ordinary.is_probability
