"""The Relief family detects interactions of genotypes, in GAMETES data of a mirror and in generated data."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mfbench_margin

FOLDER = os.environ.get("MFBENCH_DATA_DIR", "")
needs_mirror = pytest.mark.skipif(not FOLDER, reason="MFBENCH_DATA_DIR is not set")
PEERS = {"SURF": "SURF", "SURFStar": "SURFstar", "MultiSURF": "MultiSURF", "MultiSURFStar": "MultiSURFstar"}
PAIRS = ["gametes_2way_20_01h", "gametes_2way_20_04h", "gametes_het_20_50", "gametes_het_20_75"]


def load(name):
    """Return X, y and the relevant features, whose names are not N and a number."""
    with gzip.open(Path(FOLDER) / f"{name}.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")[:-1]
        values = np.loadtxt(file, delimiter=",")
    relevant = [index for index, feature in enumerate(names) if not feature.startswith("N")]
    return values[:, :-1], values[:, -1].astype(int), relevant


def three_classes(seed=0, n=1600, noise=0.6):
    """Twenty genotypes; the class is the sum of the first two modulo 3, except for the share of noise."""
    rng = np.random.default_rng(seed)
    X = rng.choice(3, p=[0.36, 0.48, 0.16], size=(n, 20)).astype(float)
    return X, np.where(rng.random(n) < noise, rng.integers(0, 3, n), (X[:, 0] + X[:, 1]) % 3).astype(int), [0, 1]


def weights(name, X, y, **parameters):
    nominal = np.ones(X.shape[1], dtype=bool)
    return getattr(mfbench_margin, name)(categorical_features=nominal, **parameters).fit(X, y).feature_importances_


def are_detected(importances, relevant):
    """Return whether the relevant features have the largest weights."""
    return set(np.argsort(-importances)[: len(relevant)]) == set(relevant)


@pytest.mark.parametrize("name", [*PEERS, "TuRF", "VLSRelief"])
def test_an_interaction_of_two_genotypes_with_three_classes(name):
    X, y, relevant = three_classes()
    parameters = {"random_state": 0} if name == "VLSRelief" else {}
    assert are_detected(weights(name, X, y, **parameters), relevant)


@needs_mirror
@pytest.mark.parametrize("data", PAIRS)
@pytest.mark.parametrize("name", PEERS)
def test_interactions_of_two_genotypes(name, data):
    X, y, relevant = load(data)
    assert are_detected(weights(name, X, y), relevant)


@needs_mirror
@pytest.mark.parametrize("data", PAIRS[:3])
def test_turf_keeps_interactions_of_two_genotypes(data):
    """Not the pair that only a quarter of the rows follow: without most other features, it looks like noise."""
    X, y, relevant = load(data)
    assert are_detected(weights("TuRF", X, y), relevant)


@needs_mirror
@pytest.mark.parametrize(
    ("name", "expected"), [("SURF", False), ("SURFStar", False), ("MultiSURF", True), ("TuRF", True)]
)
def test_interactions_of_three_genotypes(name, expected):
    """Rows within the mean distance are too many; far rows rank such features last."""
    X, y, relevant = load("gametes_3way_20_02h")
    assert are_detected(weights(name, X, y), relevant) == expected


@needs_mirror
@pytest.mark.slow(reason="scikit-rebate takes seconds a fit")
@pytest.mark.parametrize("data", [*PAIRS, "gametes_3way_20_02h"])
@pytest.mark.parametrize("name", PEERS)
def test_agrees_with_skrebate_on_its_own_data(name, data):
    skrebate = pytest.importorskip("skrebate")
    X, y, _ = load(data)
    theirs = getattr(skrebate, PEERS[name])(n_features_to_select=20).fit(X.copy(), y)
    assert_allclose(weights(name, X, y), theirs.feature_importances_, rtol=0, atol=1e-10)
