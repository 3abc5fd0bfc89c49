"""The name of a place."""

import pytest

from mfbench_gate.readers.result import Place


@pytest.mark.parametrize(
    ("place", "name"), [(Place("m", "d", "n=10"), "m/d/n=10"), (Place("m", "d"), "m/d"), (Place("bench"), "bench")]
)
def test_name(place, name):
    assert place.name == name
