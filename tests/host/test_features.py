"""Features: entry points that add commands, names and hooks; one that is broken is a sentence and affects no other."""

import sys
import types
from importlib.metadata import EntryPoint

import pytest

import mfbench
from mfbench.errors import PluginError
from mfbench.host import features
from mfbench.host.features import COMMANDS, HOOKS, NAMES, entries, feature_hooks


def point(group, name, value, distribution):
    made = EntryPoint(name, value, group)
    return made._for(types.SimpleNamespace(name=distribution, version="1.0"))


@pytest.fixture
def installed(monkeypatch):
    """Return a function that installs entry points (group, name, value, distribution) in place of all others."""

    def install(*points):
        made = [point(*each) for each in points]
        monkeypatch.setattr(features, "entry_points", lambda group: [each for each in made if each.group == group])
        for function in (entries, feature_hooks):
            function.cache_clear()

    yield install
    for function in (entries, feature_hooks):
        function.cache_clear()


def test_a_built_in_entry_keeps_its_name(installed):
    installed((NAMES, "sqrt", "cmath:sqrt", "other"), (NAMES, "sqrt", "math:sqrt", "mfbench"))
    table, problems = entries(NAMES)
    assert table["sqrt"].load()(4) == 2.0
    assert problems == ("the name 'sqrt' of the package other is left out: mfbench has its own",)


def test_of_two_with_one_name_none_is_used(installed):
    installed((COMMANDS, "a", "m:A", "one"), (COMMANDS, "a", "m:A", "two"), (COMMANDS, "b", "m:B", "two"))
    table, problems = entries(COMMANDS)
    assert list(table) == ["b"]
    assert problems == ("the command 'a' is left out: one and two provide it; uninstall all but one",)


def test_what_an_import_raises_is_one_sentence(installed):
    installed((NAMES, "a", "no_such_module_of_tests:a", "other"))
    with pytest.raises(PluginError, match=r"^'a' of the package other cannot be loaded: .*no_such_module_of_tests"):
        entries(NAMES)[0]["a"].load()


def test_names_of_import_mfbench(installed, monkeypatch):
    installed((NAMES, "square_root", "math:sqrt", "other"))
    assert "square_root" in dir(mfbench) and mfbench.square_root(4) == 2.0
    monkeypatch.delitem(vars(mfbench), "square_root")
    installed()
    with pytest.raises(AttributeError, match="has no attribute 'square_root'"):
        mfbench.square_root  # noqa: B018


def test_hooks(installed, monkeypatch):
    good, broken = types.ModuleType("good_feature"), types.ModuleType("broken_feature")
    good.mfbench_open_run = mfbench.hookimpl(lambda path: f"the run of {path}")
    broken.mfbench_no_such_hook = mfbench.hookimpl(lambda: None)
    for module in (good, broken):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    installed(
        (HOOKS, "good", "good_feature", "a"),
        (HOOKS, "broken", "broken_feature", "b"),
        (HOOKS, "missing", "no_such_module_of_tests", "c"),
    )
    relay, packages, problems = feature_hooks()
    assert relay.mfbench_open_run(path="p") == "the run of p" and packages == {"good_feature"}
    assert [problem.partition(":")[0] for problem in problems] == [
        "the feature 'broken' of the package b is left out",
        "the feature 'missing' of the package c cannot be loaded",
    ]
