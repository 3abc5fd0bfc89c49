"""Collections of registered datasets."""

import pytest

from mfbench import DatasetSpec
from mfbench.data.catalog import collection_names, in_collection
from mfbench.errors import UnknownNameError
from mfbench.host.registry import load_registry


def test_names_and_members(make_plugin):
    specs = [
        DatasetSpec(name="shells", summary="", collections={"sea": "S", "beach": "SHE"}),
        DatasetSpec(name="sand", summary="", collections={"beach": "SND"}),
        DatasetSpec(name="ice", summary=""),
    ]
    registry = load_registry(only=[], extra=[("p", make_plugin("p", datasets=specs))])
    assert collection_names(registry) == ["beach", "sea"]
    assert list(in_collection(registry, "beach")) == ["sand", "shells"]
    with pytest.raises(UnknownNameError, match="did you mean 'sea'"):
        in_collection(registry, "see")
