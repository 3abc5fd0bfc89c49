"""Docstrings describe every parameter, and exactly the attributes that exist."""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
from in_turn import in_turn

import mfbench_margin
from mfbench_margin._docstrings import PARAGRAPHS, complete

NAMES = sorted(mfbench_margin.__all__)


def section(estimator, title):
    """The names that a section of a class's docstring describes."""
    match = re.search(rf"\n{title}\n-+\n(.*?)(?=\n[A-Z][A-Za-z ]+\n---|\Z)", estimator.__doc__, re.DOTALL)
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


def test_paragraphs():
    texts = [getattr(mfbench_margin, name).__doc__ for name in NAMES]
    assert not any("%(" in text for text in texts)
    assert max(len(line) for text in texts for line in text.splitlines()) <= 120
    for name, paragraph in PARAGRAPHS.items():
        paragraph = re.sub("^    ", "", paragraph, flags=re.MULTILINE)
        assert sum(paragraph in text for text in texts) > 1, name


def test_complete_leaves_a_class_without_docstring_alone():
    class Silent:
        pass

    assert complete(Silent) is Silent
    assert Silent.__doc__ is None
