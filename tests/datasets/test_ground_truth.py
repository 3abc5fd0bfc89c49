"""The datasets with a known truth: contract, determinism, arguments, and that the truth is the truth."""

import subprocess
import sys
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from mfbench.data.fingerprint import content_hash
from mfbench.errors import UsageError
from mfbench_datasets import ground_truth_boolean as boolean
from mfbench_datasets import ground_truth_parity as parities
from mfbench_datasets.ground_truth_specs import ground_truth_specs

SPECS = {spec.name: spec for spec in ground_truth_specs()}
RANDOM = [name for name, spec in SPECS.items() if "generator" in spec.tags]
RULES = [name for name, spec in SPECS.items() if "rule" in spec.tags]


def load(name, **params):
    module, function = SPECS[name].loader.split(":")
    return getattr(import_module(module), function)(**params)


def test_the_table_is_light():
    code = (
        "import sys, mfbench_datasets.ground_truth_specs;"
        "print(sorted({'numpy', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", SPECS)
def test_contract(name):
    spec, dataset = SPECS[name], load(name)
    assert dataset.name == name
    assert (dataset.n_samples, dataset.n_features) == (spec.n_samples, spec.n_features)
    assert dataset.n_classes == spec.n_classes == 2 and set(dataset.y) == {0, 1}
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and np.isfinite(dataset.X).all()
    assert dataset.y.dtype == np.int64 and dataset.categorical.dtype == bool
    assert len(set(dataset.feature_names)) == dataset.n_features == len(dataset.categorical)
    assert set(dataset.categories) == {n for n, c in zip(dataset.feature_names, dataset.categorical, strict=True) if c}
    for column, labels in dataset.categories.items():
        codes = set(dataset.X[:, dataset.feature_names.index(column)])
        assert codes <= set(range(len(labels))) and len(codes) > 1
    assert dataset.relevant == tuple(sorted(set(dataset.relevant))) != ()
    assert set(dataset.relevant) <= set(range(dataset.n_features))
    assert all(i < j and {i, j} <= set(dataset.relevant) for i, j in dataset.interactions)
    assert (spec.source, spec.license, spec.citation) == (dataset.source, dataset.license, dataset.citation)
    assert "generated" in spec.source and "BSD-3-Clause" in spec.license


@pytest.mark.parametrize("name", RANDOM)
def test_generators_are_seeded(name):
    a, b, c = load(name, n_samples=60), load(name, n_samples=60, seed=0), load(name, n_samples=60, seed=1)
    assert content_hash(a) == content_hash(b) != content_hash(c)
    np.random.seed(5)  # noqa: NPY002 - the global state is nobody's business
    assert content_hash(load(name, n_samples=60)) == content_hash(a)


@pytest.mark.parametrize("name", RANDOM)
def test_shuffling_moves_columns_and_truth_together(name):
    plain = load(name, n_samples=60, shuffle=False)
    moved = [load(name, n_samples=60, seed=seed) for seed in range(3)]
    again = moved[0]
    place = [again.feature_names.index(word) for word in plain.feature_names]
    assert np.array_equal(again.X[:, place], plain.X) and np.array_equal(again.y, plain.y)
    assert {plain.feature_names[j] for j in plain.relevant} == {again.feature_names[j] for j in again.relevant}
    pairs = [{frozenset(d.feature_names[j] for j in pair) for pair in d.interactions} for d in (plain, again)]
    assert pairs[0] == pairs[1]
    if plain.n_features > 2:
        assert any(list(d.feature_names) != sorted(d.feature_names) for d in moved)
        assert len({d.relevant for d in moved}) > 1


# More noise columns change neither labels nor relevant columns: each part has its own stream.
@pytest.mark.parametrize(
    "name",
    [
        "xor",
        "parity",
        "rfvm-simulation-1",
        "rfvm-simulation-2",
        "friedman-1",
        "madelon-like",
        "gametes-like",
        "gametes-like-mixture",
        "immigrate-noise",
    ],
)
def test_labels_do_not_hear_of_irrelevant_columns(name):
    few, many = (load(name, n_samples=80, n_noise=n, shuffle=False) for n in (2, 9))
    assert np.array_equal(few.y, many.y)
    assert few.n_features + 7 == many.n_features
    assert np.array_equal(few.X[:, list(few.relevant)], many.X[:, list(many.relevant)])


def test_streams_are_frozen():
    """These values must hold with every NumPy and on every platform."""
    assert load("xor", shuffle=False).X[0, :3].round(6).tolist() == FROZEN["xor"]
    assert load("madelon-like", shuffle=False).X[0, :3].tolist() == FROZEN["madelon-like"]
    assert load("gametes-like").X[:2, :8].astype(int).tolist() == FROZEN["gametes-like"]
    assert load("immigrate-noise", shuffle=False).X[0].round(6).tolist() == FROZEN["immigrate-noise"]


FROZEN = {
    "xor": [-0.698565, -0.608915, -0.774011],
    "madelon-like": [2.478626, -1.027818, -1.784026],
    "gametes-like": [[1, 0, 0, 1, 0, 0, 0, 2], [0, 0, 0, 1, 0, 0, 0, 0]],
    "immigrate-noise": [3.63741, 1.45846],
}


COMMON = [{"n_samples": 1}, {"n_samples": 2.5}, {"n_samples": True}, {"seed": -1}, {"seed": 2**32}, {"seed": "x"}]
WRONG = {
    "xor": [{"n_noise": -1}, {"flip": 0.6}, {"flip": float("nan")}, {"flip": "a"}],
    "parity": [{"k": 0}, {"k": 31}, {"k": 2.0}, {"n_noise": None}, {"flip": -0.1}],
    "rfvm-simulation-1": [
        {"noise_sd": -1},
        {"equal_ranges": 1},
        {"copies": -1},
        {"copy_noise": float("inf")},
        {"n_noise": 1.5},
    ],
    "rfvm-simulation-2": [
        {"n_relevant": 0},
        {"basis": [1, 2]},
        {"basis": "12345678123456781234"},
        {"basis": [9] * 20},
        {"feature_noise_sd": -1},
        {"equal_ranges": "yes"},
    ],
    "immigrate-noise": [
        {"noise": -0.05},
        {"noise": 1.1},
        {"version": 2018},
        {"version": True},
        {"version": [2019]},
        {"rows": "doubled"},
    ],
    "gametes-like": [
        {"order": 1},
        {"order": 4},
        {"heritability": 0},
        {"heritability": 1.2},
        {"maf": 0},
        {"maf": 0.51},
        {"prevalence": 0},
        {"prevalence": 1},
    ],
    "gametes-like-mixture": [{"share": 0}, {"share": 1.0}, {"maf": True}, {"heritability": -1}],
    "madelon-like": [
        {"n_informative": 0},
        {"n_informative": 11},
        {"n_redundant": -1},
        {"n_repeated": 0.5},
        {"class_sep": -1},
        {"flip": 0.7},
        {"repeat_noise": None},
    ],
    "friedman-1": [{"noise_sd": -0.1}, {"n_noise": -2}],
    "correlated-blocks": [
        {"rho": 1},
        {"rho": -0.2},
        {"n_blocks": 0},
        {"block_size": 0},
        {"n_active": 11},
        {"n_relevant": 11},
        {"noise": -1},
    ],
}


@pytest.mark.parametrize(
    ("name", "params"), [(n, p) for n, cases in WRONG.items() for p in [*cases, *COMMON, {"shuffle": 2}]]
)
def test_nonsense_is_refused_with_parameter_and_dataset_named(name, params):
    with pytest.raises(UsageError) as caught:
        load(name, **params)
    assert repr(next(iter(params))) in str(caught.value) and repr(name) in str(caught.value)


def test_every_generator_is_asked_for_nonsense():
    assert set(WRONG) == set(RANDOM)


@pytest.mark.parametrize("name", RULES)
def test_relevant_bits_are_exactly_those_the_rule_depends_on(name):
    """Flip one bit of every point: the most frequent label changes somewhere if and only if the bit is relevant.

    CorrAL's chance feature follows the class, so that the rule is looked up without it.
    """
    dataset = load(name)
    keep = [j for j in range(dataset.n_features) if dataset.feature_names[j] != "Correlated"]
    label = {tuple(row): y for row, y in zip(dataset.X[:, keep], dataset.y, strict=True)}
    assert len(label) == 2 ** len(keep)
    depends = {
        keep[j]
        for j in range(len(keep))
        for row, y in label.items()
        if label[(*row[:j], 1 - row[j], *row[j + 1 :])] != y
    }
    assert set(dataset.relevant) == depends


@pytest.mark.parametrize("name", RULES)
def test_pairs_act_together(name):
    """Each interaction has a mixed difference: what one bit changes depends on the other."""
    dataset = load(name)
    keep = list(dataset.relevant)
    label = {tuple(row): int(y) for row, y in zip(dataset.X[:, keep], dataset.y, strict=True)}
    together = set()
    for i, j in product(range(len(keep)), repeat=2):
        if i >= j:
            continue
        for row in label:
            four = []
            for a, b in product((0.0, 1.0), repeat=2):
                changed = list(row)
                changed[i], changed[j] = a, b
                four.append(label[tuple(changed)])
            if four[3] - four[2] - four[1] + four[0]:
                together.add((keep[i], keep[j]))
    if name == "corral":  # the conjunctions also meet each other where both are nearly true
        assert set(dataset.interactions) < together
    else:
        assert set(dataset.interactions) == together


def test_boolean_rules_by_hand():
    for x, y in zip(boolean.corral().X, boolean.corral().y, strict=True):
        assert y == ((x[0] and x[1]) or (x[2] and x[3]))
    for x, y in zip(boolean.mofn_3_7_10().X, boolean.mofn_3_7_10().y, strict=True):
        assert y == (sum(x[2:9]) >= 3)
    for x, y in zip(boolean.mux6().X, boolean.mux6().y, strict=True):
        assert y == {(0, 0): x[2], (0, 1): x[3], (1, 0): x[4], (1, 1): x[5]}[x[0], x[1]]
    for x, y in zip(boolean.parity5_plus_5().X, boolean.parity5_plus_5().y, strict=True):
        assert y == (x[1] != x[2]) ^ (x[3] != x[5]) ^ bool(x[7])


def test_corral_is_the_exact_distribution():
    dataset = boolean.corral()
    agree = dataset.X[:, 5] == dataset.y
    points, inverse = np.unique(dataset.X[:, :5], axis=0, return_inverse=True)
    assert len(points) == 32 and len(np.unique(dataset.X, axis=0)) == 64
    assert np.bincount(inverse.ravel(), weights=agree).tolist() == [3] * 32


def test_no_four_bits_of_five_say_anything():
    """Exactly: class means are equal in every cell of any four of the relevant bits."""
    dataset = boolean.parity5_plus_5()
    for left_out in dataset.relevant:
        rest = [j for j in dataset.relevant if j != left_out]
        _, cell = np.unique(dataset.X[:, rest], axis=0, return_inverse=True)
        cell = cell.ravel()
        assert np.array_equal(np.bincount(cell, weights=dataset.y) * 2, np.bincount(cell))


def test_xor():
    dataset = parities.xor(n_samples=20000, n_noise=3, seed=1)
    x = dataset.X[:, list(dataset.relevant)]
    assert np.array_equal(dataset.y, x[:, 0] * x[:, 1] > 0)
    assert abs(dataset.y.mean() - 0.5) < 0.02 and np.abs(dataset.X).max() <= 1
    for code in (0, 1):  # each feature is uniform in each class: mean 0, variance 1/3
        assert np.abs(dataset.X[dataset.y == code].mean(axis=0)).max() < 0.03
        assert np.abs(dataset.X[dataset.y == code].var(axis=0) - 1 / 3).max() < 0.015


@pytest.mark.parametrize("k", [1, 2, 4])
def test_parity(k):
    dataset = parities.parity(n_samples=20000, k=k, n_noise=3, seed=1)
    bits = dataset.X[:, list(dataset.relevant)]
    assert np.array_equal(dataset.y, bits.sum(axis=1) % 2)
    assert len(dataset.interactions) == k * (k - 1) // 2
    assert np.abs(dataset.X.mean(axis=0) - 0.5).max() < 0.02
    if k > 1:
        assert max(abs(np.corrcoef(dataset.X[:, j], dataset.y)[0, 1]) for j in range(dataset.n_features)) < 0.03


@pytest.mark.parametrize("name", ["xor", "parity"])
def test_flips_have_the_asked_frequency(name):
    clean, noisy = load(name, n_samples=20000), load(name, n_samples=20000, flip=0.2)
    assert np.array_equal(clean.X, noisy.X)
    assert np.mean(clean.y != noisy.y) == pytest.approx(0.2, abs=0.012)
