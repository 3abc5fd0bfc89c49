"""Friedman's first problem and correlated blocks: formulas, moments, relevant features."""

import numpy as np
import pytest

from mfbench_datasets.ground_truth.designs import correlated_blocks, friedman_1, friedman_regression_1


def test_friedman(columns):
    dataset = friedman_1(n_samples=501, noise_sd=0.0, seed=3)
    x1, x2, x3, x4, x5 = columns(dataset, "x1", "x2", "x3", "x4", "x5")
    y = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    assert np.array_equal(dataset.y, y > np.median(y)) and np.bincount(dataset.y).tolist() == [251, 250]
    assert {dataset.feature_names[j] for j in dataset.interactions[0]} == {"x1", "x2"}
    raw = friedman_regression_1(n_samples=20000)
    assert raw.y.mean() == pytest.approx(14.4, abs=0.15) and raw.y.std() == pytest.approx(5.0, abs=0.1)
    residual = raw.y - friedman_regression_1(n_samples=20000, noise_sd=0.0).y
    assert residual.std() == pytest.approx(1, abs=0.02)


def test_correlated_blocks():
    dataset = correlated_blocks(n_samples=20000, n_blocks=3, block_size=4, n_active=2, noise=0.0, shuffle=False)
    assert dataset.relevant == (0, 1, 4, 5) and dataset.interactions == ()
    assert np.array_equal(dataset.y, dataset.X[:, [0, 1, 4, 5]].sum(axis=1) > 0)
    correlation = np.corrcoef(dataset.X.T)
    same = np.kron(np.eye(3), np.ones((4, 4)))
    assert np.abs(correlation - (0.7 * same + 0.3 * np.eye(12))).max() < 0.03
    assert np.abs(dataset.X.std(axis=0) - 1).max() < 0.03 and abs(dataset.y.mean() - 0.5) < 0.02
    moved = correlated_blocks(n_samples=300, noise=0.0, seed=8)
    assert np.array_equal(moved.y, moved.X[:, list(moved.relevant)].sum(axis=1) > 0)
    noisy = correlated_blocks(n_samples=20000, n_blocks=3, block_size=4, n_active=2, noise=1.0, shuffle=False)
    assert np.mean(noisy.y != dataset.y) == pytest.approx(0.25, abs=0.015), "arctan(1) / pi"
