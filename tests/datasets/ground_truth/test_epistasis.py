"""Epistasis: flat margins, heritability, cases and controls, published files."""

import numpy as np
import pytest

from mfbench.errors import UsageError
from mfbench_datasets.ground_truth.epistasis import (
    cell_probabilities,
    gametes_like,
    gametes_like_mixture,
    genotype_probabilities,
    heritability_of,
    penetrance_table,
)


@pytest.mark.parametrize(
    ("order", "heritability", "maf", "prevalence"),
    [
        (2, 0.4, 0.2, None),
        (2, 0.1, 0.2, 0.3),
        (2, 0.05, 0.05, None),
        (2, 0.2, 0.5, 0.5),
        (3, 0.2, 0.2, None),
        (3, 0.01, 0.4, 0.1),
        (3, 0.3, 0.4, None),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_tables_are_pure_and_strict_and_have_the_requested_heritability(order, heritability, maf, prevalence, seed):
    table = penetrance_table(order, heritability, maf, prevalence, seed)
    assert table.shape == (3,) * order and table.min() >= 0 and table.max() <= 1
    assert heritability_of(table, maf) == pytest.approx(heritability, rel=1e-9)
    k = float((cell_probabilities(maf, order) * table).sum())
    for axis in range(order):  # flat when averaged over one locus, so no proper subset is informative
        assert np.abs(np.tensordot(table, genotype_probabilities(maf), (axis, 0)) - k).max() < 1e-12
    if prevalence is not None:
        assert k == pytest.approx(prevalence, abs=1e-12)


def test_an_impossible_heritability_is_an_error_that_gives_the_highest():
    with pytest.raises(UsageError, match=r"order 2 with heritability 0.5 at minor allele frequency 0.05; the highest"):
        penetrance_table(heritability=0.5, maf=0.05)


def test_a_rarer_disease_of_equal_heritability_is_easier_to_detect():
    """To first order, the class's variance between the cells is h / (16 K (1 - K)) with as many cases as controls."""
    for prevalence in (0.5, 0.2):
        table, weights = penetrance_table(2, 0.02, 0.3, prevalence), cell_probabilities(0.3, 2)
        cases, controls = weights * table / prevalence, weights * (1 - table) / (1 - prevalence)
        variance = (((cases - controls) / (cases + controls)) ** 2 / 4 * (cases + controls) / 2).sum()
        assert variance == pytest.approx(0.02 / (16 * prevalence * (1 - prevalence)), rel=0.15)


def cells(dataset, columns):
    code = np.ravel_multi_index(dataset.X[:, columns].astype(int).T, (3,) * len(columns))
    size = 3 ** len(columns)
    counts = [np.bincount(code[dataset.y == c], minlength=size) / np.sum(dataset.y == c) for c in (0, 1)]
    return np.array(counts)


@pytest.mark.parametrize(("order", "heritability"), [(2, 0.4), (3, 0.2)])
def test_gametes_cases_and_controls(order, heritability):
    n, seed = 60000, 3
    dataset = gametes_like(n_samples=n, n_noise=4, order=order, heritability=heritability, seed=seed)
    assert np.bincount(dataset.y).tolist() == [n // 2, n // 2]
    relevant = list(dataset.relevant)
    table, weights = penetrance_table(order, heritability, seed=seed), cell_probabilities(0.2, order)
    k = (weights * table).sum()
    frequencies = cells(dataset, sorted(relevant, key=lambda j: dataset.feature_names[j]))
    assert np.abs(frequencies[0] - (weights * (1 - table)).ravel() / (1 - k)).max() < 0.012
    assert np.abs(frequencies[1] - (weights * table).ravel() / k).max() < 0.012
    for j in range(dataset.n_features):  # one locus: the same in cases and controls, four standard errors
        assert np.abs(np.diff(cells(dataset, [j]), axis=0)).max() < 4 * np.sqrt(0.5 / n)
    for j in relevant:
        assert dataset.X[:, j].mean() == pytest.approx(0.4, abs=0.01)
    noise = [j for j in range(dataset.n_features) if j not in relevant]
    assert all(0.1 - 0.01 < dataset.X[:, j].mean() < 1.01 for j in noise)


def test_gametes_mixture():
    n = 60000
    dataset = gametes_like_mixture(n_samples=n, n_noise=2, share=0.75, shuffle=False)
    assert np.bincount(dataset.y).tolist() == [n // 2, n // 2]
    for j in range(6):
        assert np.abs(np.diff(cells(dataset, [j]), axis=0)).max() < 4 * np.sqrt(0.5 / n)
    first = np.arange(n) < 45000

    def spread(columns, rows):
        part = type("Part", (), {"X": dataset.X[rows], "y": dataset.y[rows]})
        return np.abs(np.diff(cells(part, columns), axis=0)).sum()

    assert spread([2, 3], first) > 0.5 > 0.1 > spread([2, 3], ~first), "a pair is informative in its own rows only"
    assert spread([4, 5], ~first) > 0.5 > 0.1 > spread([4, 5], first)
    assert dataset.interactions == ((2, 3), (4, 5))


@pytest.mark.parametrize(
    ("copy", "columns", "params"),
    [
        ("gametes_2way_20_01h", ["P1", "P2"], {"heritability": 0.1}),
        ("gametes_2way_20_04h", ["P1", "P2"], {"heritability": 0.4}),
        ("gametes_3way_20_02h", ["P1", "P2", "P3"], {"order": 3, "heritability": 0.2}),
    ],
)
def test_gametes_files_are_alike(mirror, copy, columns, params):
    """The class varies between the cells of the relevant loci, but hardly between the genotypes of one locus."""

    def variance(dataset, features):
        code = np.ravel_multi_index(dataset.X[:, features].astype(int).T, (3,) * len(features))
        counts = np.bincount(code)
        means = np.bincount(code, weights=dataset.y) / np.maximum(counts, 1)
        return float((counts * (means - 0.5) ** 2).sum() / len(code))

    theirs = mirror(copy)
    j = [theirs.feature_names.index(name) for name in columns]
    assert theirs.X.shape == (1600, 20) and np.bincount(theirs.y).tolist() == [800, 800]
    for dataset in (theirs, *(gametes_like(**params, n_noise=20 - len(j), seed=seed) for seed in range(5))):
        features = j if dataset is theirs else list(dataset.relevant)
        # About h / (16 K (1 - K)), where the files' prevalence K is unknown: at least h / 4.
        assert variance(dataset, features) > 0.9 * params["heritability"] / 4
        assert max(variance(dataset, [f]) for f in features) < 0.004
        assert all(dataset.X[:, f].mean() == pytest.approx(0.4, abs=0.05) for f in features)
