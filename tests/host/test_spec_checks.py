"""Specs are checked field by field when they are collected."""

import numpy as np

from mfbench import (
    ClassifierSpec,
    DatasetSpec,
    SelectorSpec,
)
from mfbench.host.probes import shown, spec_problem
from mfbench.host.registry import load_registry

BAD = [
    *[
        (SelectorSpec, "grid", value)
        for value in ([1], {"k": 1}, {"k": "ab"}, {"k": []}, {1: [1]}, {"k": {1, 2}}, None)
    ],
    *[(SelectorSpec, "summary", value) for value in (None, 3, b"x", "\ud800")],
    *[(SelectorSpec, "factory", value) for value in (None, "", "a b:C", "a:", 3, "a:C()", "\ud800")],
    *[(ClassifierSpec, "defaults", value) for value in ([], {1: 2}, None)],
    *[(ClassifierSpec, "tags", value) for value in ("margin", [1], None)],
    *[(ClassifierSpec, "warm_up", value) for value in (1, "no")],
    *[(SelectorSpec, "path", value) for value in ("ab", ("a",), (1, 2))],
    *[(ClassifierSpec, "tasks", value) for value in ("regression", [1], {"regression": 1}, None)],
    *[(DatasetSpec, "loader", value) for value in (3, "a b")],
    *[(DatasetSpec, "n_samples", value) for value in ("3", True, -1, 2.0)],
    *[(DatasetSpec, "class_counts", value) for value in ([3], {"a": "b"}, {1: 2})],
    *[(DatasetSpec, "collections", value) for value in (["papers"], {"papers": 1})],
    *[(DatasetSpec, "categorical", value) for value in ("a", [1])],
    *[(DatasetSpec, "feature_groups", value) for value in (["a"], {"g": "a"}, {"g": [1]})],
]
GOOD = [
    (SelectorSpec, "grid", {"C": np.logspace(-1, 1, 3), "k": range(3), "rate": [0.1], "shape": ((1, 2), (3,))}),
    (SelectorSpec, "factory", dict),
    (SelectorSpec, "factory", "package.module:Class.method"),
    (SelectorSpec, "path", ("theta", "weights_at")),
    (ClassifierSpec, "path", ("prune", "with_prune")),
    (SelectorSpec, "tasks", {"classification": {}, "regression": {"target": "numbers"}}),
    (SelectorSpec, "tasks", ()),
    (DatasetSpec, "categorical", ()),
    (DatasetSpec, "feature_groups", {"place": ["lat", "lon"]}),
    (DatasetSpec, "n_samples", None),
]


def spec(kind, field, value):
    required = {} if kind is DatasetSpec else {"factory": "a:A"}
    return kind(**{"name": "x", "summary": "", **required, field: value})


def test_a_wrong_field_is_named(subtests):
    for kind, field, value in BAD:
        with subtests.test(kind=kind, field=field, value=value):
            assert spec_problem(spec(kind, field, value)).startswith(f"{field} is ")


def test_a_right_field_is_not(subtests):
    for kind, field, value in GOOD:
        with subtests.test(kind=kind, field=field, value=value):
            assert spec_problem(spec(kind, field, value)) == ""


def test_a_name_is_checked_again_since_a_subclass_may_not(subtests):
    for name in [None, 3, "BAD", "a b", "a--b", ""]:
        with subtests.test(name=name):
            good = spec(SelectorSpec, "summary", "")
            object.__setattr__(good, "name", name)
            assert spec_problem(good).startswith("name is ")


def test_targets():
    good = spec(SelectorSpec, "targets", "classes")
    assert spec_problem(good) == ""
    object.__setattr__(good, "targets", ["classes"])
    assert spec_problem(good).startswith("targets is ")


def test_the_built_in_specs_are_valid():
    one = load_registry(only=["all"])
    for table in map(one.listed, ("selector", "classifier", "regressor", "dataset", "metric", "task")):
        assert {name: spec_problem(entry.spec) for name, entry in table.items() if spec_problem(entry.spec)} == {}


def test_a_value_that_cannot_be_printed_is_named_by_its_class():
    class Mute:
        def __repr__(self):
            raise SystemExit(0)

    assert shown(Mute()) == "an object of class Mute"
    assert len(shown("x" * 10**6)) < 100
