"""Pulling datasets: what a word stands for, and one status for each dataset."""

import pytest

from mfbench import DatasetSpec
from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.additions import pull


@pytest.fixture
def registry(toy_plugin, make_plugin):
    specs = [
        DatasetSpec(name="shells", summary="", collections={"sea": "S"}, openml_id=7),
        DatasetSpec(name="sand", summary="", collections={"sea": "SND"}),
    ]
    return load_registry(only=[], extra=[("toy", toy_plugin), ("sea", make_plugin("sea", datasets=specs))])


@pytest.fixture
def lookup(tmp_path):
    return Lookup(DataOptions(None, tmp_path / "cache", offline=True))


def test_collections_and_datasets(registry, lookup):
    statuses = list(pull(["sea", "blobs"], registry, lookup))
    assert [(status.name, status.state) for status in statuses] == [
        ("sand", "failed"),
        ("shells", "failed"),
        ("blobs", "embedded"),
    ]
    assert "to download it, run: mfbench datasets pull shells" in statuses[1].detail


def test_a_suite_file(registry, lookup, tmp_path):
    text = '[suite]\nname = "own"\n[[datasets]]\nuse = ["blobs", "sand"]\n'
    (tmp_path / "own.toml").write_text(text + '[[methods]]\nlabel = "A"\nclassifier = "nearest"\n')
    statuses = list(pull([str(tmp_path / "own.toml")], registry, lookup))
    assert [status.name for status in statuses] == ["blobs", "sand"]


@pytest.mark.parametrize(
    ("word", "error"), [("see", UnknownNameError), ("uci:x", UsageError), ("blobs(m=1)", UsageError)]
)
def test_words_that_name_nothing(registry, lookup, word, error):
    with pytest.raises(error):
        list(pull([word], registry, lookup))
