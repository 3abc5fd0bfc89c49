"""Callables and objects have texts that identify them and are the same in every process."""

import functools

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from mfbench.host.expressions import identity


def lazy(estimator):
    def make(**parameters):
        return estimator(**parameters)

    return make


class Options:
    def __init__(self, depth):
        self.depth, self.other = depth, object()

    def make(self):
        return None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lazy(DummyClassifier), lazy(GaussianNB)),
        (functools.partial(int, base=2), functools.partial(int, base=3)),
        (functools.partial(int, "1"), functools.partial(int, "2")),
        (functools.partial(lazy, DummyClassifier), functools.partial(lazy, GaussianNB)),
        (Options(1), Options(2)),
        (Options(1).make, Options(2).make),
        (lazy([1, {"a": DummyClassifier}]), lazy([1, {"a": GaussianNB}])),
        (lazy({1, 2}), lazy({1, 3})),
        (DummyClassifier, GaussianNB),
        (functools.partial(lazy, np.array([1, 2])), functools.partial(lazy, np.array([1, 3]))),
    ],
)
def test_what_differs_has_different_texts_without_addresses(first, second):
    assert identity(first) != identity(second)
    assert "0x" not in identity(first)


@pytest.mark.parametrize("make", [lambda: lazy(GaussianNB), lambda: Options(1), lambda: Options(3).make, object])
def test_what_is_equal_has_equal_texts(make):
    assert identity(make()) == identity(make())


def test_a_class_or_a_function_of_a_module_is_its_name():
    assert identity(DummyClassifier) == "sklearn.dummy:DummyClassifier"
    assert identity(identity) == "mfbench.host.expressions:identity"
    assert identity(len) == "builtins:len"
