"""Similarities divided by a function of the user."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_similarity import (
    RBS,
)


def ones(X, Y):
    return np.ones((len(X), len(Y)))


def norms(X, Y):
    return np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)


def dice(X, Y):
    return ((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)) / 2


@pytest.mark.parametrize("estimator", [RBS(2), RBS(2, "symmetric"), RBS(2, mode="one-vs-rest")])
@pytest.mark.parametrize(("function", "name"), [(ones, "none"), (norms, "norms")])
def test_own_functions_equal_built_in_factors(make_numbers, estimator, function, name):
    X, y = make_numbers(7, n_classes=3)
    queries, _ = make_numbers(8)
    built_in = estimator.set_params(normalization=name).fit(X, y)
    matrices, margins, decisions = built_in.matrices_, built_in.margins_, built_in.decision_function(queries)
    own = estimator.set_params(normalization=function).fit(X, y)
    assert_allclose(own.matrices_, matrices, atol=1e-12)
    assert_allclose(own.margins_, margins, atol=1e-12)
    assert_allclose(own.decision_function(queries), decisions, atol=1e-9)


def test_own_function_equals_definition(oracles, make_numbers):
    X, y = make_numbers(9, n_classes=3)
    fitted = RBS(2, normalization=dice).fit(X, y)
    G = oracles.rbs_sum(X, y, 2, oracles.dice)
    assert_allclose(fitted.matrix_, G / np.linalg.norm(G), atol=1e-12)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X, Y: np.ones(len(X)), "one N per pair"),
        (lambda X, Y: -np.ones((len(X), len(Y))), "at least 0"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite"),
    ],
)
def test_bad_functions_raise(make_numbers, function, words):
    with pytest.raises(ValueError, match=words):
        RBS(normalization=function).fit(*make_numbers(0))
