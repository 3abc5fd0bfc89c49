"""Checks of the data, and the presets."""

import warnings

import numpy as np
import pytest

from mfbench_relevance import FVM, RFVM


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


def test_presets_and_settings_in_use(data):
    paper = RFVM("paper").fit(*data)
    assert paper.settings_ == {
        "bins": 4,  # log2 of 12, rounded
        "target_bins": 4,
        "binning": "width",
        "bias": "none",
        "noise": "learned",
        "algorithm": "fixed-point",
    }
    ours = RFVM(target_bins=5, random_state=0).fit(*data)
    assert ours.settings_ == {
        "bins": 16,
        "target_bins": 5,
        "binning": "frequency",
        "bias": "null",
        "noise": "calibrated",
        "algorithm": "fixed-point",
    }


@pytest.mark.parametrize(("features", "bins"), [(1, 2), (99, 7), (100, 7), (5, 2)])
def test_bins_of_the_paper(features, bins):
    X = np.random.default_rng(0).uniform(size=(30, features))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert RFVM("paper").fit(X, X[:, 0] + 0.1).settings_["bins"] == bins


@pytest.mark.parametrize(
    ("selector", "y", "message"),
    [
        (RFVM(target="numbers"), np.array(["a", "b"] * 10), "target='numbers'"),
        (FVM(kernel="linear", bias="miller-madow"), np.arange(20.0) / 3, "mutual-information kernel"),
        (RFVM(bins=5000), np.arange(20.0) / 3, "at most 4096"),
    ],
)
def test_bad_input_raises(selector, y, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(np.random.default_rng(0).normal(size=(20, 3)), y)
