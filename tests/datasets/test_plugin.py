"""The registered datasets that need no network match their specs and the published class counts."""

import subprocess
import sys
from importlib import import_module

import numpy as np
from in_turn import in_turn

from mfbench_datasets.plugin import mfbench_datasets

SPECS = {spec.name: spec for spec in mfbench_datasets()}
# Class counts by label, as UCI publishes them.
COUNTS = {
    "iris": {"setosa": 50, "versicolor": 50, "virginica": 50},
    "wine": {"1": 59, "2": 71, "3": 48},
    "wdbc": {"benign": 357, "malignant": 212},
    "optdigits": dict(zip("0123456789", (178, 182, 177, 183, 181, 182, 181, 179, 174, 180), strict=True)),
    "monks-1": {"0": 216, "1": 216},
    "monks-2": {"0": 290, "1": 142},
    "monks-3": {"0": 204, "1": 228},
    "balance-scale": {"B": 49, "L": 288, "R": 288},
    "tic-tac-toe": {"negative": 332, "positive": 626},
}


def load(name, **params):
    module, function = SPECS[name].loader.split(":")
    return getattr(import_module(module), function)(**params)


def test_plugin_is_light():
    code = "import sys, mfbench_datasets.plugin; print(sorted({'numpy', 'sklearn', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@in_turn("name", SPECS)
def test_contract(name):
    spec, dataset = SPECS[name], load(name)
    assert dataset.name == name
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (
        spec.n_samples,
        spec.n_features,
        spec.n_classes,
    )
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and np.isfinite(dataset.X).all()
    assert dataset.y.dtype == np.int64 and set(dataset.y) == set(range(dataset.n_classes))
    assert dataset.categorical.dtype == bool and dataset.categorical.shape == (dataset.n_features,)
    assert len(set(dataset.feature_names)) == dataset.n_features
    assert list(dataset.class_names) == sorted(dataset.class_names)
    assert set(dataset.categories) == {n for n, c in zip(dataset.feature_names, dataset.categorical, strict=True) if c}
    for column, labels in dataset.categories.items():
        codes = dataset.X[:, dataset.feature_names.index(column)]
        assert set(codes) == set(range(len(labels))) and list(labels) == sorted(labels)
    assert spec.license == dataset.license == "CC BY 4.0"
    assert spec.source == dataset.source and "archive.ics.uci.edu/dataset/" in spec.source
    assert spec.citation == dataset.citation != ""


@in_turn("name", COUNTS)
def test_published_class_counts(name):
    dataset = load(name)
    assert dict(zip(dataset.class_names, np.bincount(dataset.y).tolist(), strict=True)) == COUNTS[name]
