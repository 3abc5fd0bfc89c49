"""What a child process says about factories: plain values, and a sentence for each that cannot be used."""

import sys

import pytest

from mfbench.host.expressions import Facts, Plugin
from mfbench.host.trying import answer

PLUGIN = """
from mfbench import ClassifierSpec, SelectorSpec, hookimpl
from sklearn.dummy import DummyClassifier

class Two(DummyClassifier):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="ridge", summary="", factory="sklearn.linear_model:Ridge"),
            SelectorSpec(name="needs", summary="", factory=lambda k: None)]

@hookimpl
def mfbench_classifiers():
    return [ClassifierSpec(name="gone", summary="", factory="no_such_module_anywhere:C"),
            ClassifierSpec(name="two", summary="", factory=Two),
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
    assert "alpha" in ridge.parameters
    assert ridge == Facts(ridge.parameters, takes_numbers=True, takes_weights=True, takes_sparse=True)
    assert gone == Facts(problem=gone.problem) and "ModuleNotFoundError" in gone.problem
    assert counter == Facts(("iterable", "value"))
    assert "'needs' of answering cannot be built without parameters" in needs.problem


def test_a_classifier_for_two_classes_is_one_by_its_tags(plugin):
    two, ridge = answer(plugin, [("classifier", "two"), ("selector", "ridge")])
    assert (two.is_for_two_classes, ridge.is_for_two_classes) == (True, False)


def test_a_name_that_the_plugin_no_longer_registers_is_a_problem(plugin):
    (other,) = answer(plugin, [("selector", "other")])
    assert "unknown selector 'other'" in other.problem
