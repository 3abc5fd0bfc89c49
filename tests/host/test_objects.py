"""Estimators of Python code as expressions, and one sentence for each that other processes cannot import."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from mfbench.errors import UsageError
from mfbench.host.declared import expression_of, reference_of
from mfbench.host.expressions import parse
from mfbench.host.registry import load_registry

MODULE = """
from sklearn.base import BaseEstimator

class Mine(BaseEstimator):
    class Inner(BaseEstimator):
        pass

    def __init__(self, alpha=1.0, words=("a", "b"), shape=None, free=float("nan")):
        self.alpha, self.words, self.shape, self.free = alpha, words, shape, free

class Plain:
    pass

def build(depth=2):
    return Mine()
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine_for_objects.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import mine_for_objects

    yield mine_for_objects
    sys.modules.pop("mine_for_objects")


def test_an_object_is_its_class_with_the_parameters_that_differ_from_their_defaults(mine):
    assert str(expression_of(mine.Mine)) == "mine_for_objects:Mine"
    assert str(expression_of(mine.Mine())) == "mine_for_objects:Mine"
    assert str(expression_of(mine.Mine(2, words=["x -> y", "it's"]))) == (
        """mine_for_objects:Mine(alpha=2, words=['x -> y', "it's"])"""
    )
    assert expression_of(mine.Mine(np.float64(0.5), shape=np.int64(3))).params == {"alpha": 0.5, "shape": 3}


def test_equal_numbers_of_another_type_are_written():
    assert expression_of(KNeighborsClassifier(n_neighbors=5.0)).params == {"n_neighbors": 5.0}


def test_objects_and_functions_among_the_parameters_are_expressions_too():
    stump = DecisionTreeClassifier(max_depth=1)
    for value, text in [
        (
            AdaBoostClassifier(stump),
            "sklearn.ensemble:AdaBoostClassifier(estimator=sklearn.tree:DecisionTreeClassifier",
        ),
        (SelectKBest(mutual_info_classif), "(score_func=sklearn.feature_selection:mutual_info_classif)"),
        (VotingClassifier([("a", stump)]), "(estimators=[('a', sklearn.tree:DecisionTreeClassifier(max_depth=1))])"),
    ]:
        expression = expression_of(value)
        assert text in str(expression) and parse(str(expression), references=True) == expression


def test_of_a_class_with_free_keywords_the_parameters_that_differ_are_written():
    assert str(expression_of(XGBClassifier(n_estimators=3))) == "xgboost:XGBClassifier(n_estimators=3)"


def test_functions_and_nested_classes_are_named_by_their_place(mine):
    assert reference_of(mine.build) == "mine_for_objects:build"
    assert reference_of(mine.Mine.Inner) == "mine_for_objects:Mine.Inner"


def test_the_place_is_the_shortest_module_that_has_the_class():
    assert reference_of(LogisticRegression) == "sklearn.linear_model:LogisticRegression"


def test_what_an_object_has_learnt_is_left_behind():
    fitted = KNeighborsClassifier(n_neighbors=1).fit(np.eye(4), [0, 1, 0, 1])
    assert str(expression_of(fitted)) == "sklearn.neighbors:KNeighborsClassifier(n_neighbors=1)"


def test_an_estimator_of_a_plugin_has_its_registered_name():
    registry = load_registry(only=["margin", "baselines"])
    for text in ("relieff(n_neighbors=7)", "relieff"):
        assert str(expression_of(registry.make(text), registry.listed("selector"))) == text
    assert (
        str(expression_of(registry.make("knn(n_neighbors=3)"), registry.listed("classifier"))) == "knn(n_neighbors=3)"
    )


def test_defaults_of_a_plugin_are_overridden_where_the_object_differs(mine, toy_registry):
    entry = toy_registry.listed("classifier")["nearest"]
    spec = replace(entry.spec, defaults={"alpha": 2.0}, factory="mine_for_objects:Mine")
    listed = {"mine": replace(entry, spec=spec)}
    assert str(expression_of(mine.Mine(alpha=2.0), listed)) == "mine"
    assert str(expression_of(mine.Mine(alpha=5.0), listed)) == "mine(alpha=5.0)"
    assert str(expression_of(mine.Mine(), listed)) == "mine_for_objects:Mine"
    # The class alone has the defaults of the class, which the registered name has not.
    assert str(expression_of(mine.Mine, listed)) == "mine_for_objects:Mine"


def in_a_cell():
    class Cell(BaseEstimator):
        pass

    Cell.__module__, Cell.__qualname__ = "__main__", "Cell"
    return Cell


def inside():
    class Local(BaseEstimator):
        pass

    return Local


def homeless():
    class Homeless(BaseEstimator):
        pass

    Homeless.__module__, Homeless.__qualname__ = "no_module_of_this_name", "Homeless"
    return Homeless


def test_what_other_processes_cannot_build_is_refused_with_what_to_do(subtests):
    for make, reason in [
        (in_a_cell, "'Cell': it is defined in a notebook cell or in the main script, which worker processes do not"),
        (lambda: in_a_cell()(), "'Cell': it is defined in a notebook cell"),
        (inside, "'Local': it is defined inside of the function 'inside'"),
        (lambda: lambda: None, "cannot add a lambda"),
        (homeless, "'Homeless': it cannot be imported from 'no_module_of_this_name'"),
        (lambda: partial(KNeighborsClassifier, 3), "cannot add functools.*: expected a class"),
        (lambda: 3, "cannot add 3: expected a class"),
        (lambda: None, "cannot add None: expected a class"),
        (lambda: AdaBoostClassifier(inside()()), "'Local': it is defined inside of the function 'inside'"),
        (lambda: LogisticRegression(random_state=np.random.RandomState(0)), "a parameter must be a literal"),
        (lambda: LogisticRegression(C=float("inf")), "a parameter must be a literal"),
        (lambda: LogisticRegression(class_weight=np.ones(2)), "a parameter must be a literal"),
    ]:
        with subtests.test(make=make, reason=reason):
            with pytest.raises(UsageError, match=reason) as caught:
                expression_of(make())
            assert "\n" not in str(caught.value)


def test_an_object_without_get_params_is_refused(mine):
    with pytest.raises(UsageError, match=r"sklearn\.base\.BaseEstimator provides it"):
        expression_of(mine.Plain())


def test_of_several_names_the_one_with_the_nearest_defaults_is_taken(mine, toy_registry):
    entry = toy_registry.listed("classifier")["nearest"]
    spec = replace(entry.spec, factory="mine_for_objects:Mine")
    far = replace(entry, spec=replace(spec, defaults={"alpha": 2.0, "shape": 3}))
    assert str(expression_of(mine.Mine(alpha=5.0), {"far": far})) == "mine_for_objects:Mine(alpha=5.0)"
    assert (
        str(expression_of(mine.Mine(alpha=5.0), {"far": far, "near": replace(entry, spec=spec)})) == "near(alpha=5.0)"
    )
    assert str(expression_of(mine.Mine(2.0, shape=3), {"far": far, "near": replace(entry, spec=spec)})) == "far"
