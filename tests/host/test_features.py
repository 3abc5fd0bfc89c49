"""Features: entry points that add commands, names and hooks; one that is broken is a sentence and affects no other."""

import sys
import types

import pytest

import mfbench
from mfbench.errors import PluginError, UsageError
from mfbench.host import features
from mfbench.host.features import COMMANDS, HOOKS, NAMES, FeatureEntry, added_names, entries, feature_hooks

CACHED = (entries, added_names, feature_hooks)


@pytest.fixture
def installed(monkeypatch):
    """Return a function that installs entry points (group, name, value, distribution) in place of all others."""

    def install(*points):
        made = [(group, FeatureEntry(*fields)) for group, *fields in points]
        monkeypatch.setattr(features, "installed_entries", lambda group: [each for of, each in made if of == group])
        for function in CACHED:
            function.cache_clear()

    yield install
    for function in CACHED:
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


def test_a_name_that_nobody_can_write_is_left_out(installed):
    odd = ("--help", "a b", "", "\x1b[31m", "a/b")
    installed(*((COMMANDS, name, "m:A", "other") for name in odd))
    table, problems = entries(COMMANDS)
    assert not table and len(problems) == len(odd)
    assert "the command '--help' of the package other is left out: its name is not valid" in problems
    assert "\x1b" not in "".join(problems)


def test_what_an_import_raises_is_one_sentence(installed):
    installed((NAMES, "a", "no_such_module_of_tests:a", "other"))
    with pytest.raises(PluginError, match=r"^'a' of the package other cannot be loaded: .*no_such_module_of_tests"):
        entries(NAMES)[0]["a"].load()


def test_names_of_import_mfbench(installed, monkeypatch):
    installed((NAMES, "square_root", "math:sqrt", "other"))
    assert "square_root" in dir(mfbench) and mfbench.square_root(4) == 2.0
    monkeypatch.delitem(vars(mfbench), "square_root")
    installed((NAMES, "run_suite", "math:sqrt", "other"), (NAMES, "errors", "math:sqrt", "other"))
    assert mfbench.run_suite.__module__ == "mfbench.api" and mfbench.errors.PluginError is PluginError
    assert added_names() == (
        {},
        tuple(
            f"the name {name!r} of the package other is left out: mfbench has its own"
            for name in ("run_suite", "errors")
        ),
    )
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
    hooks = feature_hooks()
    assert hooks.first("mfbench_open_run", path="p") == "the run of p"
    assert hooks.packages == {"good_feature"}
    assert [problem.partition(":")[0] for problem in hooks.problems] == [
        "the feature 'broken' of the package b is left out",
        "the feature 'missing' of the package c cannot be loaded",
    ]


@pytest.fixture
def feature(installed, monkeypatch):
    """Return a function that installs a feature with one hook."""

    def install(hook, function, distribution="other"):
        module = types.ModuleType("toy_feature")
        setattr(module, hook, mfbench.hookimpl(function))
        function.__name__ = hook
        monkeypatch.setitem(sys.modules, module.__name__, module)
        installed((HOOKS, "toy", "toy_feature", distribution))
        return feature_hooks()

    return install


def sentence(hook, reason):
    return rf"^the feature 'toy' of the package other fails in {hook}: {reason}; update or uninstall the package$"


@pytest.mark.parametrize("error", [ZeroDivisionError("no"), OSError("no")], ids=repr)
def test_what_a_hook_raises_names_the_package(feature, error):
    def fails(path):
        raise error

    reason = sentence("mfbench_open_run", f"{type(error).__name__}: no")
    with pytest.raises(PluginError, match=reason) as raised:
        feature("mfbench_open_run", fails).first("mfbench_open_run", path="p")
    assert raised.value.__cause__ is error
    with pytest.raises(type(error), match="no"):  # of mfbench itself: a bug
        feature("mfbench_open_run", fails, "mfbench").first("mfbench_open_run", path="p")


def test_a_hook_may_refuse_what_the_user_asked_for(feature):
    def refuses(path):
        raise UsageError("not this")

    with pytest.raises(UsageError, match=r"^not this$"):
        feature("mfbench_open_run", refuses).first("mfbench_open_run", path="p")


def test_what_features_yield(feature):
    closed = []

    def yields(request):
        try:
            yield from request
        finally:
            closed.append(True)

    (results,) = feature("mfbench_earlier_results", yields).all("mfbench_earlier_results", request=[1, 2], plan=0)
    assert next(results) == 1
    results.close()
    assert closed == [True]
    hooks = feature("mfbench_earlier_results", lambda request: request)
    (results,) = hooks.all("mfbench_earlier_results", request=3, plan=0)
    with pytest.raises(
        PluginError, match=sentence("mfbench_earlier_results", "TypeError: 'int' object is not iterable")
    ):
        list(results)
    (results,) = hooks.all("mfbench_earlier_results", request=None, plan=0)
    assert list(results) == []
