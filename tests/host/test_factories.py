"""Factories: their parameters are known and checked before anything is built."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec
from mfbench.errors import PluginError, UnknownNameError
from mfbench.host.expressions import Declaration, Plugin, Registered, parse
from mfbench.host.factories import (
    build,
    check_parameters,
    check_requirements,
    parameter_names,
    path_of,
    resolve_factory,
)


class Thing:
    def __init__(self, size=1, shade="x"):
        self.size, self.shade = size, shade


class TestParameters:
    def registered(self, factory, **more):
        return Registered(SelectorSpec(name="a", summary="", factory=factory, **more), Plugin("p", "p"))

    def test_names_come_from_the_signature_in_order(self):
        assert parameter_names(self.registered(Thing)) == ["size", "shade"]
        assert parameter_names(self.registered("collections:OrderedDict.fromkeys")) == ["iterable", "value"]

    def test_a_factory_with_free_keywords_is_asked_for_an_estimator(self):
        class Estimator:
            def get_params(self, deep):
                return {"a": 1, "b": 2}

        assert parameter_names(self.registered(lambda **kwargs: Estimator())) == ["a", "b"]

    def test_a_class_that_a_user_names_may_take_more_than_it_tells_of(self):
        class Free:
            def __init__(self, size=1, **more):
                self.size, self.more = size, more

        spec = ClassifierSpec(name="a", summary="", factory=Free)
        own = Registered(spec, Plugin("p", "p", declared=Declaration("classifier", "p:Free")))
        assert build(own, {"verbose": -1}).more == {"verbose": -1}
        with pytest.raises(UnknownNameError, match="unknown parameter 'verbose' of 'a'"):  # it states what it takes
            build(Registered(spec, Plugin("p", "p")), {"verbose": -1})

    def test_the_parameters_of_a_function_of_rows_are_those_after_them(self):
        def score(X, y, k=3):
            return X[0] * k

        plugin = Plugin("p", "p", declared=Declaration("selector", "p:score"))
        own = Registered(SelectorSpec(name="a", summary="", factory=score), plugin)
        assert parameter_names(own) == ["k"]
        assert build(own, {"k": 2}).fit(np.array([[1.0, 3.0]]), [0]).feature_importances_.tolist() == [2.0, 6.0]

    def test_an_expression_among_the_parameters_is_built(self):
        def value(text):
            return build(self.registered(Thing), parse(f"a:B(size={text})", references=True).params).size

        assert value("fractions:Fraction(numerator=3)") == Fraction(3)
        assert value("[('x', fractions:Fraction), {'y': math:sqrt}]") == [("x", Fraction()), {"y": math.sqrt}]

    def test_no_positional_only_parameter_can_be_named(self):
        assert parameter_names(self.registered(lambda x, /, y=1: None)) == ["y"]

    def test_checking_names_the_first_wrong_one(self):
        with pytest.raises(UnknownNameError, match="'colour'"):
            check_parameters(self.registered(Thing), ["size", "colour", "weight"])

    def test_building_checks_before_it_calls(self):
        calls = []

        def factory(size=1):
            calls.append(size)

        with pytest.raises(UnknownNameError):
            build(self.registered(factory), {"sise": 1})
        assert calls == []

    def test_an_attribute_path_is_followed(self):
        assert resolve_factory(self.registered("pathlib:Path.cwd")) == Path.cwd

    def test_a_loader_with_free_keywords_is_not_called_to_check_names(self):
        calls = []

        def loader(n_samples=1, **kwargs):
            calls.append(kwargs)

        spec = DatasetSpec(name="d", summary="", loader=loader)
        check_parameters(Registered(spec, Plugin("p", "p")), ["n_samples"])
        assert calls == []


class Served:
    def __init__(self, size=1):
        self.size = size

    @property
    def with_shade(self):
        if self.size > 1:
            raise AttributeError("with_shade")
        return lambda shade: self


class TestPaths:
    def path(self, factory, **params):
        spec = ClassifierSpec(name="a", summary="", factory=factory, path=("shade", "with_shade"))
        return path_of(Registered(spec, Plugin("p", "p")), params)

    def test_a_path_is_one_where_the_method_is_available(self):
        assert self.path(Served) == ("shade", "with_shade")
        assert self.path(Served, size=2) is None

    def test_an_error_of_the_factory_is_left_to_the_trial(self):
        def factory(size=1):
            raise ValueError("size")

        assert self.path(factory) == ("shade", "with_shade")

    def test_a_dataset_or_a_method_without_one_has_none(self):
        assert path_of(Registered(SelectorSpec(name="a", summary="", factory=Thing), Plugin("p", "p")), {}) is None


class TestRequirements:
    def registered(self, **fields):
        spec = SelectorSpec(name="a", summary="", factory=Thing, **fields)
        return Registered(spec, Plugin("p", "p"))

    def test_what_is_installed_is_not_missing(self):
        check_requirements(self.registered(requires=("json", "numpy")))

    def test_a_method_is_refused_with_the_command_that_installs_what_it_lacks(self, subtests):
        for fields, sentence in [
            ({"requires": ("json", "no_such")}, r"^'a' needs the package no_such: pip install 'json no_such'$"),
            (
                {"requires": ("no_such",), "install": "p[all]"},
                r"needs the package no_such: pip install 'p\[all\]'$",
            ),
            ({"requires": ("not_a", "not_b")}, r"^'a' needs the packages not_a and not_b: pip install 'not_a not_b'$"),
        ]:
            with subtests.test(fields=fields, sentence=sentence):
                with pytest.raises(PluginError, match=sentence):
                    check_requirements(self.registered(**fields))
                with pytest.raises(UnknownNameError, match="'colour'"):  # a mistake of the user comes first
                    build(self.registered(**fields), {"colour": 1})
                with pytest.raises(PluginError, match=sentence):
                    build(self.registered(**fields), {"size": 1})
