"""Univariate screening against the F statistic."""

import numpy as np
import pytest

from mfbench_baselines._columns import strongest
from mfbench_baselines.filters import AnovaFFilter


@pytest.mark.parametrize("n_classes", [2, 3])
def test_strongest_features_have_the_largest_f(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 50)), rng.integers(0, n_classes, 200)
    X[:, [7, 31]] += y[:, None]
    F = AnovaFFilter().fit(X, y).feature_importances_
    assert strongest(X, y, 10).tolist() == sorted(np.argsort(-F)[:10])


def test_few_features_are_all_kept():
    X = np.zeros((4, 3))
    assert strongest(X, np.array([0, 1, 0, 1]), 3).tolist() == [0, 1, 2]


def test_constants_come_last_and_ties_go_to_the_first():
    y = np.array([0, 0, 1, 1])
    X = np.column_stack([np.full(4, 0.1), y, [0, 1, 0, 1], y, y])
    assert strongest(X, y, 2).tolist() == [1, 3]
    assert strongest(X[:, :2], y, 1).tolist() == [1]
