"""MADELON's construction: roles of the columns, distributions, the published file."""

import numpy as np
import pytest

from mfbench_datasets.ground_truth.madelon import madelon_like


def test_ground_truth():
    dataset = madelon_like(n_samples=1000, n_noise=50, n_repeated=4, flip=0.0, class_sep=50, seed=6)
    roles = {word: [j for j, n in enumerate(dataset.feature_names) if n.startswith(word)] for word in ("inf", "red")}
    informative, redundant = dataset.X[:, roles["inf"]], dataset.X[:, roles["red"]]
    assert len(dataset.relevant) == 24 and set(roles["inf"] + roles["red"]) <= set(dataset.relevant)
    assert {j for pair in dataset.interactions for j in pair} == set(roles["inf"])
    # The clusters are far apart: the signs of the informative columns give the vertex, which gives the label.
    vertex = (informative > 0) @ (1 << np.arange(5))
    ordered = [dataset.y[vertex == v] for v in range(32)]
    assert all(len(y) in (31, 32) and np.ptp(y) == 0 for y in ordered)
    assert sum(int(y[0]) for y in ordered) == 16
    combination, *_ = np.linalg.lstsq(informative, redundant, rcond=None)
    assert np.abs(informative @ combination - redundant).max() < 1e-4 and np.abs(combination).max() < 1.001
    for j, name in enumerate(dataset.feature_names):
        if name.startswith("repeated"):
            source = dataset.feature_names.index(name.split("-of-")[1])
            assert np.corrcoef(dataset.X[:, [j, source]].T)[0, 1] == pytest.approx(1 / np.sqrt(1.01), abs=0.004)


def test_distributions():
    dataset = madelon_like(n_samples=20000, n_noise=10, shuffle=False, seed=1)
    probes = dataset.X[:, 20:]
    assert np.abs(probes.mean(axis=0)).max() < 0.03 and np.abs(probes.std(axis=0) - 1).max() < 0.03
    assert np.abs(np.corrcoef(dataset.X.T)[20:, :20]).max() < 0.03
    # Variance of an informative column: class_sep^2 of the vertices, and five squared uniforms of mean 1/3.
    assert np.abs(dataset.X[:, :5].var(axis=0) - (4 + 5 / 3)).max() < 0.5
    clean = madelon_like(n_samples=20000, n_noise=10, shuffle=False, seed=1, flip=0.0)
    assert np.array_equal(clean.X, dataset.X)
    assert np.mean(clean.y != dataset.y) == pytest.approx(0.01, abs=0.003)
    assert clean.y.mean() == pytest.approx(0.5, abs=1e-3)


def test_published_file_is_alike(mirror):
    """Twenty correlated columns span five dimensions, and nearest neighbours are about as accurate on both."""
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    theirs, ours = mirror("madelon"), madelon_like(n_samples=2600, n_redundant=5, n_repeated=10)
    correlation = np.abs(np.corrcoef(theirs.X.T) - np.eye(500))
    correlated = np.flatnonzero(correlation.max(axis=0) > 0.5)
    assert len(correlated) == len(ours.relevant) == 20 and ours.X.shape == theirs.X.shape
    accuracy = []
    for X, y in ((theirs.X[:, correlated], theirs.y), (ours.X[:, list(ours.relevant)], ours.y)):
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        spectrum = np.linalg.svd(Z, compute_uv=False)
        assert spectrum[4] > 5 * spectrum[5]
        accuracy.append(cross_val_score(KNeighborsClassifier(5), Z, y, cv=5).mean())
    assert accuracy[0] == pytest.approx(accuracy[1], abs=0.05)
