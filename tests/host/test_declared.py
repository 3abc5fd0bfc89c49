"""Classes that the user names by their place: plugins with one spec, of which nothing is imported here."""

import sys

import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.code_hashes import forget, method_code
from mfbench.host.declared import declared_plugin
from mfbench.host.expressions import Declaration, Expression, Plugin, parse
from mfbench.host.factories import check_parameters
from mfbench.host.registry import load_registry

MODULE = """
from sklearn.base import BaseEstimator
from helpers_of_mine import shade

class Mine(BaseEstimator):
    def __init__(self, alpha=1.0):
        self.alpha = alpha
"""
SELECTOR = Declaration("selector", "mine_here:Mine")


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "mine_here.py").write_text(MODULE)
    (tmp_path / "helpers_of_mine.py").write_text("shade = 'red'\n")
    (tmp_path / "neighbour.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    forget()
    for name in ("mine_here", "helpers_of_mine"):
        sys.modules.pop(name, None)


def test_a_declared_class_is_registered_under_its_kind_alone_and_imported_in_a_child_process(module):
    registry = load_registry(only=["baselines"], isolated=True)
    for _ in range(2):
        registry.declare(SELECTOR)
    name = registry.resolve("selector", "mine_here:Mine")
    assert registry.entry("selector", name).spec.factory == "mine_here:Mine"
    assert registry.entry("selector", name).prober.facts(registry.entry("selector", name)).parameters == ("alpha",)
    assert "mine_here" not in sys.modules
    with pytest.raises(UsageError, match="'mine_here:Mine' is the import path of a class, but a suite names only what"):
        registry.resolve("classifier", "mine_here:Mine")


def test_another_declaration_after_the_names_were_listed_is_registered_too(module):
    registry = load_registry(only=["baselines"])
    assert registry.listed("selector") and registry.listed("classifier")
    for declaration in (SELECTOR, Declaration("classifier", "mine_here:Mine")):
        registry.declare(declaration)
    for kind in ("selector", "classifier"):
        assert registry.resolve(kind, "mine_here:Mine") in registry.listed(kind)
    assert registry.make(registry.resolve("selector", "mine_here:Mine"), "selector", alpha=3).alpha == 3
    assert {"mine_here"} == {plugin.module for plugin in registry.plugins.values() if plugin.declared}


def test_a_process_that_loads_the_plugin_alone_has_the_class_under_the_same_name(module):
    plugin = declared_plugin(SELECTOR)
    assert list(load_registry(exactly=[plugin]).listed("selector")) == [SELECTOR.name]


def test_its_code_is_that_of_the_module_and_of_what_it_imports_wherever_it_was_imported(module):
    def code():
        forget()
        registry = load_registry(only=["baselines"], isolated=True)
        registry.declare(SELECTOR)
        return method_code(registry.entry("selector", SELECTOR.name))

    before = code()
    assert set(before) == {"plugin mine_here", "import helpers_of_mine", "adapter"}
    __import__("mine_here")  # as a notebook does
    assert code() == before
    (module / "neighbour.py").write_text("edited = True\n")
    assert code() == before
    (module / "helpers_of_mine.py").write_text("shade = 'blue'\n")
    assert code() != before


def test_a_class_of_the_scientific_stack_counts_by_its_version():
    registry = load_registry(only=["baselines"])
    registry.declare(Declaration("classifier", "sklearn.svm:LinearSVC"))
    code = method_code(registry.entry("classifier", registry.resolve("classifier", "sklearn.svm:LinearSVC")))
    assert "distribution scikit-learn" in code and "plugin sklearn" not in code


def test_what_reads_the_weights_is_part_of_the_code_of_selectors_that_are_named_by_their_place_alone(monkeypatch):
    def codes():
        registry = load_registry(only=["baselines"])
        place = "mfbench_baselines.filters:VarianceFilter"
        registry.declare(Declaration("selector", place))
        return [
            method_code(registry.entry("selector", registry.resolve("selector", name))) for name in (place, "variance")
        ]

    declared, own = codes()
    assert "adapter" in declared and "adapter" not in own
    monkeypatch.setattr("mfbench.host.code_hashes.adapter_code", lambda: "another")
    assert codes()[0] != declared and codes()[1] == own


def test_the_classes_among_the_parameters_are_part_of_the_code(module):
    registry = load_registry(only=["baselines"])
    expression = parse("sklearn.feature_selection:RFE(estimator=mine_here:Mine)", references=True)
    with pytest.raises(UsageError, match="'mine_here:Mine' is the import path of a class, but a suite names only what"):
        registry.entries("classifier", Expression("knn", expression.params))
    registry.declare_expression("selector", expression)
    name = registry.resolve("selector", expression.name)
    rfe, mine = registry.entries("selector", Expression(name, expression.params))
    assert "plugin mine_here" in method_code(mine) and "plugin mine_here" not in method_code(rfe)
    assert "mine_here" not in sys.modules


def test_a_class_of_a_built_in_plugin_is_trusted():
    assert declared_plugin(Declaration("selector", "mfbench_margin.plugin:anything")).distribution == "mfbench"


@pytest.mark.parametrize("place", ["nowhere_at_all:Mine", "mine_here.nowhere:Mine", "__main__:Mine"])
def test_a_module_that_does_not_exist_is_refused_with_what_to_do(module, place):
    with pytest.raises(UsageError, match=r"pip install -e \.'.*does not import from the working directory"):
        declared_plugin(Declaration("selector", place))


@pytest.mark.parametrize("place", ["mine_here", "mine_here:", ":Mine", "mine_here:1", "a b:c", "mine_here:Mine()"])
def test_what_is_not_a_place_is_refused(place):
    with pytest.raises(UsageError, match="is not the import path of a class"):
        declared_plugin(Declaration("selector", place))


def test_names_differ_where_places_do():
    places = ["a.b:C", "a:b.C", "a:bC", "A:bc", "a:B_c", "größe:Maß"]
    names = [Declaration("selector", place).name for place in places]
    assert len(set(names)) == len(places)


def test_a_plugin_of_an_author_declares_nothing():
    assert Plugin("a", "a").declared is None
    with pytest.raises(UnknownNameError):
        load_registry(only=["baselines"]).resolve("selector", SELECTOR.name)


def test_messages_name_the_class_as_it_was_written(module):
    registry = load_registry(only=["baselines"], isolated=True)
    registry.declare(SELECTOR)
    with pytest.raises(UnknownNameError, match="unknown parameter 'beta' of 'mine_here:Mine'"):
        check_parameters(registry.entry("selector", SELECTOR.name), ["beta"])
