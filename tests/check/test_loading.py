"""Plugins are imported by a child first; one that ends or stops it is left out with the reason."""

import pytest

from mfbench.errors import PluginError
from mfbench.host.discovery import PluginWarning
from mfbench_check.loading import load_for_checks


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("exiting_plugin", "the process ended with exit code 0"),
        ("hanging_plugin", "it took longer than 3 s and was stopped"),
        ("raising_plugin", "ImportError: no module named torch"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_a_problem_and_the_others_are_loaded(module, reason, monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", f"{module},correct_methods")
    with pytest.warns(PluginWarning, match=reason):
        registry = load_for_checks(3.0)
    assert [problem.plugin.name for problem in registry.problems.records] == [module]
    assert "mean-gap" in registry.listed("selector")


def test_a_strict_load_raises(monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "exiting_plugin")
    with pytest.raises(PluginError, match="cannot be imported: the process ended"):
        load_for_checks(30.0, strict=True)


def test_the_built_in_plugins_are_trusted(monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "baselines")
    monkeypatch.setattr("mfbench_check.loading.call", lambda *args, **options: pytest.fail("a child was asked"))
    assert "knn" in load_for_checks(30.0).listed("classifier")
