"""The forest of Boruta grows scikit-learn's trees."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from mfbench_baselines._forest import RankedColumns, forest_importances


def tables():
    rng = np.random.default_rng(0)
    yield "iris", *load_iris(return_X_y=True), 5
    yield "wdbc", *load_breast_cancer(return_X_y=True), None
    X = rng.integers(0, 3, size=(200, 30)).astype(float)
    X[:, 4], X[:, 9] = 1.0, 1.0 + 1e-9 * np.arange(200)
    yield "ties and constants", X, rng.integers(0, 4, 200), None
    yield "sparse nodes", rng.normal(size=(1500, 6)), rng.integers(0, 2, 1500), None
    close = rng.integers(0, 40, size=(120, 5)) * 4e-8
    yield "closer than single precision tells", close, (close[:, 1] > 8e-7).astype(int), 5


@pytest.mark.parametrize(
    ("name", "X", "y", "depth"), list(tables()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_importances_are_those_of_scikit_learn(name, X, y, depth):
    expected = RandomForestClassifier(25, max_depth=depth, random_state=7).fit(X, y).feature_importances_
    # The layout of columns with their shadows: another would be compiled for this test alone.
    ours = forest_importances(RankedColumns.of(np.asfortranarray(X)), y, 25, depth, 7)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-15)


def test_a_forest_without_a_split_has_no_importances():
    columns = RankedColumns.of(np.ones((3, 10)).T)
    np.testing.assert_array_equal(forest_importances(columns, np.arange(10) % 2, 5, None, 0), np.zeros(3))


def test_shadows_are_shuffled_copies():
    X = np.random.default_rng(0).normal(size=(50, 3))
    both = RankedColumns.of(X).with_shadows(np.array([2, 0]), np.random.RandomState(5))
    random = np.random.RandomState(5)
    shuffled = np.column_stack([X, random.permutation(X[:, 2]), random.permutation(X[:, 0])]).astype(np.float32)
    np.testing.assert_array_equal(np.take_along_axis(both.numbers, both.ranks, axis=1), shuffled.T)


def test_numbers_beyond_single_precision_raise():
    with pytest.raises(ValueError, match="too large for float32"):
        RankedColumns.of(np.array([[1e300], [0.0]]))
