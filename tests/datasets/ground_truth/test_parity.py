"""Exclusive or and parity: labels, distributions, flipped labels."""

import numpy as np
import pytest

from mfbench_datasets.ground_truth.boolean import corral
from mfbench_datasets.ground_truth.parity import corral_noise, parity, xor


def test_xor():
    dataset = xor(n_samples=20000, n_noise=3, seed=1)
    x = dataset.X[:, list(dataset.relevant)]
    assert np.array_equal(dataset.y, x[:, 0] * x[:, 1] > 0)
    assert abs(dataset.y.mean() - 0.5) < 0.02 and np.abs(dataset.X).max() <= 1
    for code in (0, 1):  # each feature is uniform in each class: mean 0, variance 1/3
        assert np.abs(dataset.X[dataset.y == code].mean(axis=0)).max() < 0.03
        assert np.abs(dataset.X[dataset.y == code].var(axis=0) - 1 / 3).max() < 0.015


@pytest.mark.parametrize("k", [1, 2, 4])
def test_parity(k):
    dataset = parity(n_samples=20000, k=k, n_noise=3, seed=1)
    bits = dataset.X[:, list(dataset.relevant)]
    assert np.array_equal(dataset.y, bits.sum(axis=1) % 2)
    assert len(dataset.interactions) == k * (k - 1) // 2
    assert np.abs(dataset.X.mean(axis=0) - 0.5).max() < 0.02
    if k > 1:
        assert max(abs(np.corrcoef(dataset.X[:, j], dataset.y)[0, 1]) for j in range(dataset.n_features)) < 0.03


@pytest.mark.parametrize("make", [xor, parity])
def test_flips_have_the_requested_frequency(make):
    clean, noisy = make(n_samples=20000), make(n_samples=20000, flip=0.2)
    assert np.array_equal(clean.X, noisy.X)
    assert np.mean(clean.y != noisy.y) == pytest.approx(0.2, abs=0.012)


def test_copies_repeat_relevant_bits_and_are_not_relevant():
    plain, doubled = (parity(n_samples=50, n_noise=2, shuffle=False, copies=copies) for copies in (0, 2))
    assert np.array_equal(doubled.X[:, :5], plain.X) and np.array_equal(doubled.X[:, 5:], plain.X[:, :2])
    assert doubled.relevant == plain.relevant == (0, 1, 2) and doubled.feature_names[5:] == ("copy-1", "copy-2")


def test_corral_among_noise_has_the_distribution_of_corral():
    many, exact = corral_noise(n_samples=40_000, n_noise=2, shuffle=False), corral()
    A, B, C, D, correlated, *noise = many.X.T.astype(bool)
    assert np.array_equal(many.y, (A & B) | (C & D)) and len(noise) == 3
    assert np.mean(correlated == many.y) == pytest.approx(0.75, abs=0.01)
    assert many.y.mean() == pytest.approx(exact.y.mean(), abs=0.01) and many.relevant == exact.relevant
    assert max(abs(np.corrcoef(bit, many.y)[0, 1]) for bit in noise) < 0.02
