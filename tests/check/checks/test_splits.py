"""Each mistake of a splitter or a protocol is found by exactly the check named for it, and its snippet shows it."""

from opening import registry_of
from unsound_splits import MISTAKES

from mfbench.errors import DataError, PluginError
from mfbench.host.registry import load_registry
from mfbench_check.catalog import all_checks
from mfbench_check.display import CheckOutcome
from mfbench_check.running import UNMET, make_check
from mfbench_check.subjects import Opened, Subject

MODULE = "unsound_splits"


def failures_of(kind, name, registry):
    opened = Opened(Subject(kind, name, registry.entry(kind, name).plugin), registry)
    verdicts = []
    for check in all_checks():
        if kind in check.kinds:
            verdicts.append(make_check(check, opened, {one.check for one in verdicts if one.outcome in UNMET}))
    return [one for one in verdicts if one.outcome is CheckOutcome.FAIL]


def test_a_mistake_is_caught_by_the_check_named_for_it():
    failed = {subject: [one.check for one in failures_of(*subject, registry_of(MODULE))] for subject in MISTAKES}
    assert failed == {subject: [check] for subject, check in MISTAKES.items()}


def test_the_snippet_shows_the_mistake_of_a_splitter(monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", MODULE)
    silent = set()
    for kind, name in MISTAKES:
        (failure,) = failures_of(kind, name, registry_of(MODULE))
        assert len(failure.snippet.splitlines()) <= 10
        try:
            exec(failure.snippet, {})
        except (AssertionError, AttributeError, DataError, PluginError):
            continue
        silent.add((kind, name))
    assert {name for kind, name in silent if kind == "splitter"} == {"no-summary"}  # the text names the mistake


def test_sound_ones_fail_nothing():
    for module in (MODULE, None):
        registry = registry_of(MODULE) if module else load_registry(only=())
        for kind in ("splitter", "protocol"):
            for name in registry.listed(kind):
                if module is None or (kind, name) not in MISTAKES:
                    assert not failures_of(kind, name, registry), name
