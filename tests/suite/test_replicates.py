"""Replicates: a dataset of a suite drawn many times, as many as the profile says."""

import pytest

from mfbench.errors import SuiteError
from mfbench.suite.loading import load_suite

SUITE = """
[suite]
name = "own"
profile = "full"
[[datasets]]
use = {use}
replicates = {replicates}
[[methods]]
label = "A"
classifier = "nearest"
"""


def loaded(tmp_path, registry, profile="full", use='["blobs(shift=1.0)"]', replicates="3"):
    path = tmp_path / "own.toml"
    path.write_text(SUITE.format(use=use, replicates=replicates), encoding="utf-8")
    return [text for group in load_suite(str(path), registry, profile).suite.datasets for text in group.use]


def test_each_dataset_once_for_every_seed(tmp_path, toy_registry):
    assert loaded(tmp_path, toy_registry) == [f"blobs(shift=1.0, seed={seed})" for seed in range(3)]
    assert loaded(tmp_path, toy_registry, use='["blobs"]', replicates="1") == ["blobs(seed=0)"]


def test_a_profile_says_how_many(tmp_path, toy_registry):
    numbers = "{ quick = 1, full = 4 }"
    assert len(loaded(tmp_path, toy_registry, "quick", replicates=numbers)) == 1
    assert len(loaded(tmp_path, toy_registry, "full", replicates=numbers)) == 4


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"replicates": "{ quick = 2 }"}, "datasets[0].replicates: no number for the profile 'full'"),
        ({"replicates": "{ full = 0 }"}, "the profile 'full' has no replicates of any dataset"),
        ({"replicates": "0"}, "datasets[0].replicates"),
        ({"use": '["file:a.csv"]'}, "'file:a.csv' is not generated from a seed"),
        ({"use": '["blobs(seed=3)"]'}, "sets a seed; 'replicates' sets the seeds"),
        ({"use": '["blobs(3)"]'}, "write parameters as name=value"),
    ],
)
def test_refusals(tmp_path, toy_registry, changes, part):
    with pytest.raises(SuiteError) as raised:
        loaded(tmp_path, toy_registry, **changes)
    assert part in str(raised.value)
