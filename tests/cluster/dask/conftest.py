"""Make `dask_clusters` importable, and start one cluster for all tests of a module."""

import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))


@pytest.fixture(scope="module")
def cluster():
    """Two workers with one thread each, in threads of this process."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    from dask_clusters import threaded_cluster

    with threaded_cluster() as cluster:
        yield cluster


@pytest.fixture
def target(monkeypatch):
    """Return a function that makes a function a target: workers in threads of this process can import it."""

    def make(function):
        module = types.ModuleType("dask_targets")
        module.target = function
        monkeypatch.setitem(sys.modules, "dask_targets", module)
        return "dask_targets:target"

    return make
