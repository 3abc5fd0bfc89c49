"""The tables of checks are what their names say, and the same in every process."""

import numpy as np
import pytest

from mfbench.errors import UnknownNameError
from mfbench_check.subjects import SAMPLES, sample


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def test_a_table_has_class_codes_and_is_the_same_for_the_same_seed():
    tables = {name: sample(name, 3) for name in SAMPLES}
    assert {X.dtype for X, _ in tables.values()} == {np.dtype(np.float64)}
    assert [name for name, (_, y) in tables.items() if set(y.tolist()) != set(range(y.max() + 1))] == []
    assert [name for name in SAMPLES if not same(tables[name], sample(name, 3))] == []
    assert [name for name in SAMPLES if np.array_equal(tables[name][0], sample(name, 4)[0], equal_nan=True)] == []


def test_the_first_features_differ_between_the_classes():
    X, y = sample()
    gaps = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    assert set(np.argsort(gaps)[-2:]) == {0, 1}


HOLDS = {
    "three-classes": lambda X, y: len(np.unique(y)) == 3,
    "many-classes": lambda X, y: len(np.unique(y)) == 12,
    "one-feature": lambda X, y: X.shape[1] == 1,
    "more-features-than-rows": lambda X, y: X.shape[1] > X.shape[0],
    "one-row-of-a-class": lambda X, y: np.bincount(y).min() == 1,
    "missing-values": lambda X, y: np.isnan(X).any() and not np.isnan(X).all(axis=0).any(),
    "tiny-scale": lambda X, y: 0 < np.abs(X).max() < 1e-140,
    "huge-scale": lambda X, y: 1e140 < np.abs(X).max() < np.inf,
}


def test_a_table_is_what_its_name_says():
    assert [name for name, holds in HOLDS.items() if not holds(*sample(name))] == []


def test_the_nearest_name_is_suggested():
    with pytest.raises(UnknownNameError, match="did you mean 'two-classes'"):
        sample("two-clases")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_numbers_of_a_table_keep_its_classes_apart_and_are_finite(name):
    (_, y), (_, numbers) = sample(name, 3), sample(name, 3, numbers=True)
    assert np.isfinite(numbers).all() and len(np.unique(numbers)) > len(numbers) / 2
    assert (np.abs(numbers - y) <= 1).all() and np.abs(numbers - y).max() > 0.9
