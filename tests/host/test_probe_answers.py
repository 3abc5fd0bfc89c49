"""What a child process says about factories: plain values, and a sentence for each that cannot be used."""

import sys

import pytest

from mfbench.host.probe_answers import answer
from mfbench.host.registered import Plugin

PLUGIN = """
from mfbench import ClassifierSpec, SelectorSpec, hookimpl

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="ridge", summary="", factory="sklearn.linear_model:Ridge"),
            SelectorSpec(name="needs", summary="", factory=lambda k: None)]

@hookimpl
def mfbench_classifiers():
    return [ClassifierSpec(name="gone", summary="", factory="no_such_module_anywhere:C"),
            ClassifierSpec(name="counter", summary="", factory="collections:OrderedDict.fromkeys")]
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A loose plugin module."""
    (tmp_path / "answering.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    yield Plugin("answering", "answering")
    sys.modules.pop("answering", None)


def test_parameters_tags_and_problems(plugin):
    requests = [("selector", "ridge"), ("classifier", "gone"), ("classifier", "counter"), ("selector", "needs")]
    ridge, gone, counter, needs = answer(plugin, requests)
    assert "alpha" in ridge[0]
    assert ridge[1:] == (True, "")
    assert gone[:2] == ([], False)
    assert "ModuleNotFoundError" in gone[2]
    assert counter == (["iterable", "value"], False, "")
    assert "'needs' of answering cannot be built without parameters" in needs[2]


def test_a_name_that_the_plugin_no_longer_registers_is_a_problem(plugin):
    ((_, _, problem),) = answer(plugin, [("selector", "other")])
    assert "unknown selector 'other'" in problem
