"""Docstrings describe every parameter, and exactly the attributes that exist."""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
from in_turn import in_turn

import mfbench_margin

NAMES = sorted(mfbench_margin.__all__)


def section(estimator, title):
    """The names that a section of a class's docstring describes."""
    match = re.search(rf"\n{title}\n-+\n(.*?)(?=\n[A-Z][A-Za-z ]+\n---|\Z)", inspect.getdoc(estimator), re.DOTALL)
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", match[1], re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


@in_turn("name", NAMES)
def test_every_parameter_is_described(name):
    estimator = getattr(mfbench_margin, name)
    described = section(estimator, "Parameters")
    assert sorted(described) == sorted(estimator().get_params())


@in_turn("name", NAMES)
def test_sections_begin_at_the_margin(name):
    text = inspect.getdoc(getattr(mfbench_margin, name))
    assert re.search(r"^Parameters\n-+$", text, re.MULTILINE)
    assert not re.search(r"^ +-{3,}$", text, re.MULTILINE)


@in_turn("name", NAMES)
def test_every_attribute_described_exists_and_the_other_way_round(name, make_groups):
    X, y = make_groups(1, shift=2)
    estimator = getattr(mfbench_margin, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = estimator().fit(pd.DataFrame(X, columns=list("abcd")), y)
    described = section(estimator, "Attributes")
    assert len(described) == len(set(described))
    for attribute in described:
        assert hasattr(fitted, attribute), attribute
    public = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
    assert sorted(public - set(described)) == []
    assert np.isfinite(fitted.feature_importances_).all()
