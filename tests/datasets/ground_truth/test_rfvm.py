"""The RFVM simulations: formulas, distributions, equal ranges, copies."""

import numpy as np
import pytest

from mfbench_datasets.ground_truth.rfvm import (
    rfvm_regression_1,
    rfvm_regression_2,
    rfvm_simulation_1,
    rfvm_simulation_2,
)

BASIS = {
    1: lambda f: 40 * f,
    2: lambda f: 20 * (1 - f * f),
    3: lambda f: 23 * f * f * f,
    4: lambda f: 20 * np.sin(40 * f - 5),
    5: lambda f: 20 * np.exp(f),
    6: lambda f: -np.log(np.abs(f)) / np.log(2),
    7: lambda f: 20 * (1 - f) ** 0.5,
    8: lambda f: 20 * np.cos(20 * f - 7),
}


def test_first_formula_and_classes(columns):
    dataset = rfvm_simulation_1(noise_sd=0.0, seed=4)
    f1, f2, f3 = columns(dataset, "f1", "f2", "f3")
    y = 9 * f1 + 20 * (1 - f2) ** 3 + 17 * np.sin(80 * f3 - 7)
    assert np.array_equal(dataset.y, y > np.median(y)) and np.bincount(dataset.y).tolist() == [500, 500]
    assert {dataset.feature_names[j] for j in dataset.relevant} == {"f1", "f2", "f3"}
    assert np.array_equal(rfvm_regression_1(noise_sd=0.0, seed=4).y, y)


def test_first_distributions():
    raw = rfvm_regression_1(n_samples=20000, n_noise=5)
    assert raw.X.shape == (20000, 8)
    scale = np.array([1] * 3 + [20] * 5)
    assert raw.X.min() >= 0 and (raw.X / scale).max() <= 1
    assert np.abs((raw.X / scale).mean(axis=0) - 0.5).max() < 0.01
    assert np.abs((raw.X / scale).var(axis=0) - 1 / 12).max() < 0.003
    assert np.abs(np.corrcoef(raw.X.T, raw.y)[-1, 3:-1]).max() < 0.03
    # Var(9 f1) = 81/12; Var(20 u^3) = 400 (1/7 - 1/16); the sine's own moments over its 80 radians.
    z = np.sin(80 * (np.arange(100_000) + 0.5) / 100_000 - 7)
    assert raw.y.var() == pytest.approx(81 / 12 + 400 * (1 / 7 - 1 / 16) + 289 * z.var(), rel=0.02)
    noisy = rfvm_regression_1(n_samples=20000, n_noise=5, noise_sd=3.0)
    assert (noisy.y - rfvm_regression_1(n_samples=20000, n_noise=5, noise_sd=0.0).y).std() == pytest.approx(3, rel=0.02)


def test_second_formula(columns):
    basis = (1, 2, 3, 4, 5, 6, 7, 8) * 2
    dataset = rfvm_simulation_2(n_samples=500, n_relevant=16, n_noise=10, basis=basis, seed=2)
    names = [f"f{i}-F{number}" for i, number in enumerate(basis, 1)]
    y = sum(BASIS[number](columns(dataset, name)[0]) for number, name in zip(basis, names, strict=True))
    assert np.mean(dataset.y == (y > np.median(y))) == 1
    assert {dataset.feature_names[j] for j in dataset.relevant} == set(names)


def test_second_draws_its_functions():
    raw = rfvm_regression_2(n_samples=50, n_relevant=4000, n_noise=1)
    numbers = np.array([int(name.split("-F")[1]) for name in raw.feature_names[:4000]])
    assert np.bincount(numbers, minlength=9)[1:].min() > 400
    raw = rfvm_regression_2(n_samples=200, seed=9)
    f = raw.X[:, :20]
    total = sum(BASIS[int(name.split("-F")[1])](f[:, i]) for i, name in enumerate(raw.feature_names[:20]))
    assert np.allclose(raw.y, total, rtol=1e-12)


def test_second_distributions():
    raw = rfvm_regression_2(n_samples=20000, n_relevant=4, n_noise=4)
    assert np.abs(raw.X[:, :4]).max() <= 0.5
    assert np.abs(raw.X[:, 4:].mean(axis=0) - 10).max() < 0.15
    assert np.abs(raw.X[:, 4:].var(axis=0) - (400 / 12 + 1)).max() < 0.7


@pytest.mark.parametrize("make", [rfvm_regression_1, rfvm_regression_2])
def test_equal_ranges(make):
    raw = make(n_samples=20000, n_noise=5, equal_ranges=True)
    assert np.ptp(raw.X.min(axis=0)) < 0.01 and np.ptp(raw.X.max(axis=0)) < 0.01
    assert np.ptp(raw.X.std(axis=0)) < 0.01
    assert np.array_equal(raw.y, make(n_samples=20000, n_noise=5).y)


def test_copies():
    raw = rfvm_regression_1(n_samples=5000, n_noise=4, copies=2)
    assert raw.relevant == (0, 1, 2, 7, 8, 9, 10, 11, 12) and raw.feature_names[-1] == "f3-copy-2"
    assert np.array_equal(raw.X[:, 7:10], raw.X[:, :3]) and np.array_equal(raw.X[:, 10:], raw.X[:, :3])
    noisy = rfvm_regression_1(n_samples=5000, n_noise=4, copies=1, copy_noise=0.5)
    assert np.array_equal(noisy.y, raw.y)
    for i in range(3):
        assert np.corrcoef(noisy.X[:, i], noisy.X[:, 7 + i])[0, 1] == pytest.approx(1 / np.sqrt(1.25), abs=0.01)
