"""Comparison with prepared copies of the UCI files in the folder MFBENCH_DATA_DIR."""

import os
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from mfbench.data.files import read_file
from mfbench_datasets.generators import DIGITS
from mfbench_datasets.plugin import mfbench_datasets

FOLDER = os.environ.get("MFBENCH_DATA_DIR", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="MFBENCH_DATA_DIR is not set")
LOADERS = {spec.name: spec.loader.split(":") for spec in mfbench_datasets()}


def pair(name, copy):
    path = Path(FOLDER) / f"{copy}.csv.gz"
    if not path.is_file():
        pytest.skip(f"the folder has no {copy}")
    table = tomllib.loads((Path(FOLDER) / "index.toml").read_text(encoding="utf-8"))[copy]
    mirror = read_file(path, target="class", categorical=table["categorical"])
    assert (mirror.n_samples, mirror.n_features, mirror.n_classes) == (
        table["n_samples"],
        table["n_features"],
        table["n_classes"],
    )
    module, function = LOADERS[name]
    return getattr(import_module(module), function)(), mirror


def rows(dataset, rename=lambda label: label):
    """Return the rows and labels as a multiset, exact up to the ninth digit."""
    return Counter(
        (tuple(float(f"{value:.9g}") for value in x), rename(dataset.class_names[y]))
        for x, y in zip(dataset.X, dataset.y, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("monks-1", "monk1"),
        ("monks-2", "monk2"),
        ("monks-3", "monk3"),
        ("balance-scale", "balance_scale"),
        ("wine", "wine"),
    ],
)
def test_same_rows(name, copy):
    ours, mirror = pair(name, copy)
    assert rows(ours) == rows(mirror)


def test_same_rows_of_wdbc():
    ours, mirror = pair("wdbc", "wdbc")
    assert rows(ours) == rows(mirror, {"B": "benign", "M": "malignant"}.get)


def test_iris_differs_in_the_two_corrected_rows():
    ours, mirror = pair("iris", "iris")
    theirs = rows(mirror, lambda label: label.removeprefix("Iris-"))
    assert sum((rows(ours) - theirs).values()) == sum((theirs - rows(ours)).values()) == 2


@pytest.mark.parametrize(("name", "copy"), [("waveform-21", "waveform_21"), ("waveform-40", "waveform_40")])
def test_waveform_agrees_within_sampling_error(name, copy):
    ours, mirror = pair(name, copy)
    for code in range(3):
        a, b = ours.X[ours.y == code], mirror.X[mirror.y == code]
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert np.abs((a.mean(axis=0) - b.mean(axis=0)) / error).max() < 4.5
        assert np.abs(np.cov(a.T) - np.cov(b.T)).max() < 0.5


def test_led_shows_the_same_digits():
    _, mirror = pair("led-24", "led24")
    means = np.array([mirror.X[mirror.y == digit][:, :7].mean(axis=0) for digit in range(10)])
    assert np.array_equal(means > 0.5, DIGITS == 1)
