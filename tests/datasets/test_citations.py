"""Attributions: complete, and one for each dataset that needs no network."""

from mfbench_datasets import citations
from mfbench_datasets.plugin import mfbench_datasets


def test_every_dataset_has_an_attribution_and_no_other():
    assert set(citations._TABLE) == {spec.name for spec in mfbench_datasets()}


def test_attributions_are_complete():
    for name in citations._TABLE:
        fields = citations.attribution(name)
        assert fields["source"].startswith("UCI ") and "https://archive.ics.uci.edu/dataset/" in fields["source"]
        assert fields["license"] and fields["citation"]
