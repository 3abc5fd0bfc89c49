"""Facts about third parties' factories: learnt in child processes, which may end in any way."""

import sys

import pytest

from mfbench.errors import PluginError
from mfbench.host import probes
from mfbench.host.factories import parameter_names, takes_numbers
from mfbench.host.registry import load_registry
from mfbench.host.trying import answer
from mfbench.processes.call import ChildError

PLUGIN = """
from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl

@hookimpl
def mfbench_selectors():
    return [
        SelectorSpec(name="fine", summary="", factory="foreign_fine:Fine"),
        SelectorSpec(name="regressor", summary="", factory="sklearn.linear_model:Ridge"),
        SelectorSpec(name="dies", summary="", factory="foreign_dies:Selector"),
    ]

@hookimpl
def mfbench_classifiers():
    return [
        ClassifierSpec(name="free", summary="", factory="foreign_fine:free"),
        ClassifierSpec(name="exits", summary="", factory="foreign_exits:Classifier"),
    ]

@hookimpl
def mfbench_datasets():
    return [
        DatasetSpec(name="loaded", summary="", loader="foreign_fine:load"),
        DatasetSpec(name="fetched", summary="", openml_id=61),
    ]
"""
MODULES = {
    "foreign": PLUGIN,
    "foreign_dies": "import os\nos._exit(0)",
    "foreign_exits": "raise SystemExit(0)",
    "foreign_fine": "from sklearn.base import BaseEstimator\n"
    "class Fine(BaseEstimator):\n    def __init__(self, k=1, shade='red'):\n        self.k, self.shade = k, shade\n"
    "def free(**more):\n    return Fine(**more)\n"
    "def load(n_samples=10, seed=0):\n    raise AssertionError('a loader is not called to learn its parameters')\n",
}


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A registry with the plugin above, which this process does not import beyond its hooks."""
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield load_registry(only=["foreign"], isolated=True)
    for name in MODULES:
        sys.modules.pop(name, None)


class Children:
    """Stands in for `call`: answers in this process, and fails for some names."""

    def __init__(self, fatal=(), kind="crash"):
        self.fatal, self.kind, self.asked = set(fatal), kind, []

    def __call__(self, function, plugin, requests, **_):
        names = [name for _, name in requests]
        self.asked.append(names)
        if self.fatal & set(names):
            raise ChildError(self.kind, "the process ended with exit code 0")
        return answer(plugin, requests)


def everything(registry):
    tables = (registry.listed("selector"), registry.listed("classifier"), registry.listed("dataset"))
    return [entry for table in tables for entry in table.values()]


def test_a_real_child_answers_and_this_process_imports_nothing(foreign):
    foreign.probe(everything(foreign))
    assert parameter_names(foreign.entry("selector", "fine")) == ["k", "shade"]
    assert parameter_names(foreign.entry("classifier", "free")) == ["k", "shade"]
    assert parameter_names(foreign.entry("dataset", "loaded")) == ["n_samples", "seed"]
    assert parameter_names(foreign.entry("dataset", "fetched")) == []
    assert takes_numbers(foreign.entry("selector", "regressor"))
    assert not takes_numbers(foreign.entry("selector", "fine"))
    with pytest.raises(PluginError, match="'dies' of foreign cannot be imported: the process ended with exit code 0"):
        parameter_names(foreign.entry("selector", "dies"))
    with pytest.raises(PluginError, match=r"'exits' of foreign cannot be imported .* SystemExit: 0"):
        parameter_names(foreign.entry("classifier", "exits"))
    assert not {"foreign_fine", "foreign_dies", "foreign_exits"} & set(sys.modules)


def test_one_child_answers_for_all_and_only_once(foreign, monkeypatch):
    children = Children()
    monkeypatch.setattr(probes, "call", children)
    foreign.probe(entry for entry in everything(foreign) if entry.spec.name not in ("dies", "exits"))
    assert [sorted(names) for names in children.asked] == [["fine", "free", "loaded", "regressor"]]
    parameter_names(foreign.entry("selector", "fine"))
    foreign.probe(foreign.listed("dataset").values())
    assert len(children.asked) == 1


def test_only_the_factory_at_fault_is_left_out(foreign, monkeypatch):
    children = Children(fatal=["free"])
    monkeypatch.setattr(probes, "call", children)
    entries = [
        foreign.entry("selector", "fine"),
        foreign.entry("classifier", "free"),
        foreign.entry("dataset", "loaded"),
    ]
    foreign.probe([*entries, foreign.entry("selector", "regressor")])
    assert [len(names) for names in children.asked] == [4, 3, 1, 1, 1, 1]  # all, by module, then one by one
    assert parameter_names(foreign.entry("selector", "fine")) == ["k", "shade"]
    with pytest.raises(PluginError, match="'free' of foreign"):
        parameter_names(foreign.entry("classifier", "free"))


def test_a_module_that_takes_too_long_is_not_waited_for_again(foreign, monkeypatch):
    children = Children(fatal=["free"], kind="timeout")
    monkeypatch.setattr(probes, "call", children)
    foreign.probe([foreign.entry("selector", "fine"), foreign.entry("classifier", "free")])
    assert len(children.asked) == 1
    with pytest.raises(PluginError, match="'fine' of foreign"):
        parameter_names(foreign.entry("selector", "fine"))


def test_what_is_in_this_process_anyway_is_asked_directly(make_plugin):
    from mfbench import SelectorSpec

    spec = SelectorSpec(name="here", summary="", factory=dict)
    one = load_registry(only=["baselines"], extra=[("p", make_plugin("p", selectors=[spec]))], isolated=True)
    assert one.entry("selector", "here").prober is None
    assert one.entry("classifier", "knn").prober is None
