"""Simulations, epistasis, MADELON's construction and designs: formulas, moments, flat margins, published files."""

import os
import tomllib
from pathlib import Path

import numpy as np
import pytest

from mfbench import load_dataset
from mfbench.data.files import read_file
from mfbench.errors import UsageError
from mfbench_datasets import ground_truth_boolean as boolean
from mfbench_datasets.ground_truth_designs import correlated_blocks, friedman_1, friedman_regression_1
from mfbench_datasets.ground_truth_epistasis import (
    cell_probabilities,
    gametes_like,
    gametes_like_mixture,
    genotype_probabilities,
    heritability_of,
    penetrance_table,
)
from mfbench_datasets.ground_truth_immigrate import immigrate_noise
from mfbench_datasets.ground_truth_madelon import madelon_like
from mfbench_datasets.ground_truth_rfvm import (
    rfvm_regression_1,
    rfvm_regression_2,
    rfvm_simulation_1,
    rfvm_simulation_2,
)

FOLDER = os.environ.get("MFBENCH_DATA_DIR", "")
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


def of(dataset, *names):
    return dataset.X[:, [dataset.feature_names.index(name) for name in names]]


# RFVM ------------------------------------------------------------------------------------------------------------


def test_rfvm_1_formula_and_classes():
    dataset = rfvm_simulation_1(noise_sd=0.0, seed=4)
    f1, f2, f3 = of(dataset, "f1", "f2", "f3").T
    y = 9 * f1 + 20 * (1 - f2) ** 3 + 17 * np.sin(80 * f3 - 7)
    assert np.array_equal(dataset.y, y > np.median(y)) and np.bincount(dataset.y).tolist() == [500, 500]
    assert {dataset.feature_names[j] for j in dataset.relevant} == {"f1", "f2", "f3"}
    assert np.array_equal(rfvm_regression_1(noise_sd=0.0, seed=4).y, y)


def test_rfvm_1_distributions():
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


def test_rfvm_2_formula():
    basis = (1, 2, 3, 4, 5, 6, 7, 8) * 2
    dataset = rfvm_simulation_2(n_samples=500, n_relevant=16, n_noise=10, basis=basis, seed=2)
    names = [f"f{i}-F{number}" for i, number in enumerate(basis, 1)]
    y = sum(BASIS[number](of(dataset, name)[:, 0]) for number, name in zip(basis, names, strict=True))
    assert np.mean(dataset.y == (y > np.median(y))) == 1
    assert {dataset.feature_names[j] for j in dataset.relevant} == set(names)


def test_rfvm_2_draws_its_functions():
    raw = rfvm_regression_2(n_samples=50, n_relevant=4000, n_noise=1)
    numbers = np.array([int(name.split("-F")[1]) for name in raw.feature_names[:4000]])
    assert np.bincount(numbers, minlength=9)[1:].min() > 400
    raw = rfvm_regression_2(n_samples=200, seed=9)
    f = raw.X[:, :20]
    total = sum(BASIS[int(name.split("-F")[1])](f[:, i]) for i, name in enumerate(raw.feature_names[:20]))
    assert np.allclose(raw.y, total, rtol=1e-12)


def test_rfvm_2_distributions():
    raw = rfvm_regression_2(n_samples=20000, n_relevant=4, n_noise=4)
    assert np.abs(raw.X[:, :4]).max() <= 0.5
    assert np.abs(raw.X[:, 4:].mean(axis=0) - 10).max() < 0.15
    assert np.abs(raw.X[:, 4:].var(axis=0) - (400 / 12 + 1)).max() < 0.7


@pytest.mark.parametrize("make", [rfvm_regression_1, rfvm_regression_2])
def test_rfvm_equal_ranges_leave_no_trace_in_the_scale(make):
    raw = make(n_samples=20000, n_noise=5, equal_ranges=True)
    assert np.ptp(raw.X.min(axis=0)) < 0.01 and np.ptp(raw.X.max(axis=0)) < 0.01
    assert np.ptp(raw.X.std(axis=0)) < 0.01
    assert np.array_equal(raw.y, make(n_samples=20000, n_noise=5).y)


def test_rfvm_copies():
    raw = rfvm_regression_1(n_samples=5000, n_noise=4, copies=2)
    assert raw.relevant == (0, 1, 2, 7, 8, 9, 10, 11, 12) and raw.feature_names[-1] == "f3-copy-2"
    assert np.array_equal(raw.X[:, 7:10], raw.X[:, :3]) and np.array_equal(raw.X[:, 10:], raw.X[:, :3])
    noisy = rfvm_regression_1(n_samples=5000, n_noise=4, copies=1, copy_noise=0.5)
    assert np.array_equal(noisy.y, raw.y)
    for i in range(3):
        assert np.corrcoef(noisy.X[:, i], noisy.X[:, 7 + i])[0, 1] == pytest.approx(1 / np.sqrt(1.25), abs=0.01)


# IMMIGRATE -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "rho"), [(2020, 0.5), (2019, 0.0)])
def test_immigrate_moments(version, rho):
    dataset = immigrate_noise(n_samples=40000, noise=0.5, version=version, shuffle=False)
    assert np.bincount(dataset.y).tolist() == [30000, 30000]
    parts = np.split(dataset.X, [20000, 40000, 50000])
    for part, mean, variance in zip(parts, [(4, 2), (6, 0), (8, -2), (2, 4)], [1, 1, 8, 8], strict=True):
        assert np.abs(part.mean(axis=0) - mean).max() < 0.12
        assert np.abs(np.cov(part.T) / variance - [[1, rho], [rho, 1]]).max() < 0.05
    for code in (0, 1):  # the clean rows lie on their own side of x1 - x2 = 4, the noise rows beyond
        assert np.sign(np.diff(parts[code].mean(axis=0)) + 4) == (1 if code == 0 else -1)
        assert np.sign(np.diff(parts[2 + code].mean(axis=0)) + 4) == (-1 if code == 0 else 1)


def test_immigrate_noise_levels():
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


# Epistasis -------------------------------------------------------------------------------------------------------


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
def test_tables_are_pure_strict_and_of_the_asked_heritability(order, heritability, maf, prevalence, seed):
    table = penetrance_table(order, heritability, maf, prevalence, seed)
    assert table.shape == (3,) * order and table.min() >= 0 and table.max() <= 1
    assert heritability_of(table, maf) == pytest.approx(heritability, rel=1e-9)
    k = float((cell_probabilities(maf, order) * table).sum())
    for axis in range(order):  # summing one locus out leaves nothing: so no proper subset of the loci says anything
        assert np.abs(np.tensordot(table, genotype_probabilities(maf), (axis, 0)) - k).max() < 1e-12
    if prevalence is not None:
        assert k == pytest.approx(prevalence, abs=1e-12)


def test_an_impossible_heritability_is_refused_with_what_is_possible():
    with pytest.raises(UsageError, match=r"order 2 with heritability 0.5 at minor allele frequency 0.05; the highest"):
        penetrance_table(heritability=0.5, maf=0.05)


def test_a_rarer_disease_of_equal_heritability_is_easier():
    """To first order the class's variance between cells is h / (16 K (1 - K)) with as many cases as controls."""
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
    found = cells(dataset, sorted(relevant, key=lambda j: dataset.feature_names[j]))
    assert np.abs(found[0] - (weights * (1 - table)).ravel() / (1 - k)).max() < 0.012
    assert np.abs(found[1] - (weights * table).ravel() / k).max() < 0.012
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

    assert spread([2, 3], first) > 0.5 > 0.1 > spread([2, 3], ~first), "a pair rules its own rows only"
    assert spread([4, 5], ~first) > 0.5 > 0.1 > spread([4, 5], first)
    assert dataset.interactions == ((2, 3), (4, 5))


# MADELON ---------------------------------------------------------------------------------------------------------


def test_madelon_truth():
    dataset = madelon_like(n_samples=1000, n_noise=50, n_repeated=4, flip=0.0, class_sep=50, seed=6)
    roles = {word: [j for j, n in enumerate(dataset.feature_names) if n.startswith(word)] for word in ("inf", "red")}
    informative, redundant = dataset.X[:, roles["inf"]], dataset.X[:, roles["red"]]
    assert len(dataset.relevant) == 24 and set(roles["inf"] + roles["red"]) <= set(dataset.relevant)
    assert {j for pair in dataset.interactions for j in pair} == set(roles["inf"])
    # Far apart clusters: the signs of the informative columns give the vertex, and the vertex the label.
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


def test_madelon_distributions():
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


# Designs ---------------------------------------------------------------------------------------------------------


def test_friedman():
    dataset = friedman_1(n_samples=501, noise_sd=0.0, seed=3)
    x1, x2, x3, x4, x5 = of(dataset, "x1", "x2", "x3", "x4", "x5").T
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


# Mirrors ---------------------------------------------------------------------------------------------------------


def mirror(name):
    if not FOLDER:
        pytest.skip("MFBENCH_DATA_DIR is not set")
    path = Path(FOLDER) / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip(f"the folder has no {name}")
    table = tomllib.loads((Path(FOLDER) / "index.toml").read_text(encoding="utf-8"))[name]
    return read_file(path, target="class", categorical=table["categorical"])


@pytest.mark.parametrize(
    ("make", "copy"),
    [
        (boolean.corral, "corral"),
        (boolean.mofn_3_7_10, "mofn_3_7_10"),
        (boolean.mux6, "mux6"),
        (boolean.parity5_plus_5, "parity5_plus_5"),
    ],
)
def test_published_files_have_the_same_points_and_labels(make, copy):
    """The files repeat points, so that the sets of distinct labelled points are compared."""
    ours, theirs = make(), mirror(copy)
    assert ours.feature_names == theirs.feature_names
    labelled = [{(*x, y) for x, y in zip(d.X.tolist(), d.y.tolist(), strict=True)} for d in (ours, theirs)]
    assert labelled[0] == labelled[1]
    for name in theirs.feature_names:
        assert theirs.categories[name] == ours.categories[name]


def test_published_corral_has_the_same_frequency():
    theirs = mirror("corral")
    assert np.mean(theirs.X[:, 5] == theirs.y) == 0.75


@pytest.mark.parametrize(
    ("copy", "columns", "params"),
    [
        ("gametes_2way_20_01h", ["P1", "P2"], {"heritability": 0.1}),
        ("gametes_2way_20_04h", ["P1", "P2"], {"heritability": 0.4}),
        ("gametes_3way_20_02h", ["P1", "P2", "P3"], {"order": 3, "heritability": 0.2}),
    ],
)
def test_gametes_files_have_the_same_nature(copy, columns, params):
    """Between-cell variance of the class over the relevant loci; alone a locus has next to none."""

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


def test_madelon_file_has_as_many_dimensions_as_ours():
    """Twenty correlated columns in five dimensions, and neighbours that are right as often."""
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    theirs, ours = mirror("madelon"), madelon_like(n_samples=2600, n_redundant=5, n_repeated=10)
    correlation = np.abs(np.corrcoef(theirs.X.T) - np.eye(500))
    found = np.flatnonzero(correlation.max(axis=0) > 0.5)
    assert len(found) == len(ours.relevant) == 20 and ours.X.shape == theirs.X.shape
    accuracy = []
    for X, y in ((theirs.X[:, found], theirs.y), (ours.X[:, list(ours.relevant)], ours.y)):
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        spectrum = np.linalg.svd(Z, compute_uv=False)
        assert spectrum[4] > 5 * spectrum[5]
        accuracy.append(cross_val_score(KNeighborsClassifier(5), Z, y, cv=5).mean())
    assert accuracy[0] == pytest.approx(accuracy[1], abs=0.05)


@pytest.mark.parametrize("name", ["rfvm-simulation-1", "rfvm-simulation-2", "friedman-1"])
def test_response_stands_beside_the_classes(name):
    dataset = load_dataset(f"{name}(n_samples=60)")
    assert dataset.task == "regression"
    assert dataset.response.dtype == np.float64
    np.testing.assert_array_equal(dataset.y, dataset.response > np.median(dataset.response))
    assert load_dataset("xor(n_samples=60)").task == "classification"
