"""All ground-truth datasets: they match their specs, are seeded and shuffled, and reject invalid arguments."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from in_turn import in_turn

from mfbench.data.lookup import content_hash
from mfbench.errors import UsageError
from mfbench_datasets.ground_truth.specs import ground_truth_specs

SPECS = {spec.name: spec for spec in ground_truth_specs()}
RANDOM = [name for name, spec in SPECS.items() if "generator" in spec.tags]


def load(name, **params):
    module, function = SPECS[name].loader.split(":")
    return getattr(import_module(module), function)(**params)


def test_the_module_is_light():
    code = (
        "import sys, mfbench_datasets.ground_truth.specs;"
        "print(sorted({'numpy', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@in_turn("name", SPECS)
def test_contract(name):
    spec, dataset = SPECS[name], load(name)
    assert dataset.name == name
    assert (dataset.n_samples, dataset.n_features) == (spec.n_samples, spec.n_features)
    assert dataset.task == spec.task
    if spec.task == "classification":
        assert dataset.n_classes == spec.n_classes == 2 and set(dataset.y) == {0, 1}
        assert dataset.y.dtype == np.int64
    else:
        assert dataset.n_classes == 0 and dataset.y.dtype == np.float64 and len(np.unique(dataset.y)) > 200
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and np.isfinite(dataset.X).all()
    assert dataset.categorical.dtype == bool
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


@in_turn("name", RANDOM)
def test_generators_are_seeded(name):
    a, b, c = load(name, n_samples=60), load(name, n_samples=60, seed=0), load(name, n_samples=60, seed=1)
    assert content_hash(a) == content_hash(b) != content_hash(c)
    np.random.seed(5)  # noqa: NPY002 - the global state must have no effect
    assert content_hash(load(name, n_samples=60)) == content_hash(a)


@in_turn("name", RANDOM)
def test_shuffling_moves_columns_and_truth_together(name):
    plain = load(name, n_samples=60, shuffle=False)
    moved = [load(name, n_samples=60, seed=seed) for seed in range(3)]
    again = moved[0]
    position = [again.feature_names.index(name) for name in plain.feature_names]
    assert np.array_equal(again.X[:, position], plain.X) and np.array_equal(again.y, plain.y)
    assert {plain.feature_names[j] for j in plain.relevant} == {again.feature_names[j] for j in again.relevant}
    pairs = [{frozenset(d.feature_names[j] for j in pair) for pair in d.interactions} for d in (plain, again)]
    assert pairs[0] == pairs[1]
    if plain.n_features > 2:
        assert any(list(d.feature_names) != sorted(d.feature_names) for d in moved)
        assert len({d.relevant for d in moved}) > 1


# More noise columns change neither the labels nor the relevant columns: each part has its own stream.
@in_turn(
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
def test_labels_do_not_depend_on_irrelevant_columns(name):
    few, many = (load(name, n_samples=80, n_noise=n, shuffle=False) for n in (2, 9))
    assert np.array_equal(few.y, many.y)
    assert few.n_features + 7 == many.n_features
    assert np.array_equal(few.X[:, list(few.relevant)], many.X[:, list(many.relevant)])


FROZEN = {
    "xor": [-0.698565, -0.608915, -0.774011],
    "madelon-like": [2.478626, -1.027818, -1.784026],
    "gametes-like": [[1, 0, 0, 1, 0, 0, 0, 2], [0, 0, 0, 1, 0, 0, 0, 0]],
    "immigrate-noise": [3.63741, 1.45846],
}


def test_streams_are_frozen():
    """These values must hold with every NumPy and on every platform."""
    assert load("xor", shuffle=False).X[0, :3].round(6).tolist() == FROZEN["xor"]
    assert load("madelon-like", shuffle=False).X[0, :3].tolist() == FROZEN["madelon-like"]
    assert load("gametes-like").X[:2, :8].astype(int).tolist() == FROZEN["gametes-like"]
    assert load("immigrate-noise", shuffle=False).X[0].round(6).tolist() == FROZEN["immigrate-noise"]


SHARED = [
    {"n_samples": 1},
    {"n_samples": 2.5},
    {"n_samples": True},
    {"seed": -1},
    {"seed": 2**32},
    {"seed": "x"},
]


ERRORS = {
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
    "corral-100": [{"n_noise": -1}],
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
    "friedman-regression-1": [{"noise_sd": -0.1}],
    "friedman-regression-2": [{"n_noise": -1}, {"noise_sd": "much"}],
    "friedman-regression-3": [{"noise_sd": -1}],
    "rfvm-regression-1": [{"copies": -1}],
    "rfvm-regression-2": [{"basis": [9] * 20}],
    "correlated-regression": [{"rho": 1}, {"n_active": 11}],
}


@in_turn("name, params", [(n, p) for n, cases in ERRORS.items() for p in [*cases, *SHARED, {"shuffle": 2}]])
def test_invalid_arguments_are_errors_that_name_parameter_and_dataset(name, params):
    with pytest.raises(UsageError) as caught:
        load(name, **params)
    assert repr(next(iter(params))) in str(caught.value) and repr(name) in str(caught.value)


def test_every_generator_is_tested_with_invalid_arguments():
    assert set(ERRORS) == set(RANDOM)
