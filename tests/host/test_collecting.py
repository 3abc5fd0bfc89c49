"""Hooks are called one by one: a failure stays with its plugin, and what cannot be used is refused with the reason."""

import pluggy
import pytest

from mfbench import ExecutorSpec, SelectorSpec, hookimpl
from mfbench.host import hookspecs
from mfbench.host.discovery import PluginWarning, Problems
from mfbench.host.expressions import Plugin
from mfbench.host.registry import Hooks, refusal


class Good:
    @hookimpl
    def mfbench_selectors(self):
        return [1, 2]


class Bad:
    @hookimpl
    def mfbench_selectors(self):
        raise SystemExit(3)


def test_a_hook_that_fails_is_left_out_and_the_others_are_called():
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    objects = [Bad(), Good()]
    for value in objects:
        manager.register(value)
    plugins = {id(value): Plugin(type(value).__name__, "m") for value in objects}
    problems = Problems()
    with pytest.warns(PluginWarning, match="'Bad' of m: mfbench_selectors raised SystemExit: 3"):
        values = list(Hooks(manager, plugins, problems, isolated=True).call("mfbench_selectors"))
    assert [(plugin.name, value) for plugin, value in values] == [("Good", 1), ("Good", 2)]
    assert len(problems.sentences) == 1


def test_a_spec_of_another_class_or_with_a_wrong_field_is_refused():
    spec = ExecutorSpec(name="a", summary="A", factory="m:F")
    assert refusal(spec, ExecutorSpec, "executor") == ""
    assert "expected SelectorSpec" in refusal(spec, SelectorSpec, "selector")
    wrong = ExecutorSpec(name="a", summary="A", factory="m:F", install=3)
    assert refusal(wrong, ExecutorSpec, "executor") == "executor 'a': install is 3, expected str"
