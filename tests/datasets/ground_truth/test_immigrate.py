"""The noise simulation of the IMMIGRATE papers: moments and noise levels."""

import numpy as np
import pytest

from mfbench_datasets.ground_truth.immigrate import immigrate_noise


@pytest.mark.parametrize(("version", "rho"), [(2020, 0.5), (2019, 0.0)])
def test_moments(version, rho):
    dataset = immigrate_noise(n_samples=40000, noise=0.5, version=version, shuffle=False)
    assert np.bincount(dataset.y).tolist() == [30000, 30000]
    parts = np.split(dataset.X, [20000, 40000, 50000])
    for part, mean, variance in zip(parts, [(4, 2), (6, 0), (8, -2), (2, 4)], [1, 1, 8, 8], strict=True):
        assert np.abs(part.mean(axis=0) - mean).max() < 0.12
        assert np.abs(np.cov(part.T) / variance - [[1, rho], [rho, 1]]).max() < 0.05
    for code in (0, 1):  # clean rows lie on their side of x1 - x2 = 4, noise rows on the other
        assert np.sign(np.diff(parts[code].mean(axis=0)) + 4) == (1 if code == 0 else -1)
        assert np.sign(np.diff(parts[2 + code].mean(axis=0)) + 4) == (-1 if code == 0 else 1)


def test_noise_levels():
    clean = immigrate_noise(noise=0.0, n_noise=2, shuffle=False)
    assert clean.X.shape == (200, 4) and clean.interactions == ((0, 1),) and clean.relevant == (0, 1)
    for step in range(1, 11):
        added = immigrate_noise(noise=0.05 * step, shuffle=False)
        assert np.bincount(added.y).tolist() == [100 + 5 * step] * 2
        assert np.array_equal(added.X[:200], clean.X[:, :2]), "the clean rows are the same at every level"
        replaced = immigrate_noise(noise=0.05 * step, rows="replaced", shuffle=False)
        assert np.bincount(replaced.y).tolist() == [100, 100]
        kept = 100 - 5 * step
        assert np.array_equal(replaced.X[:kept], clean.X[:kept, :2])
        assert np.array_equal(replaced.X[2 * kept :], added.X[200:])
