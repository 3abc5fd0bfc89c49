"""Datasets of third parties come back from a child process as arrays and plain values."""

import sys

import numpy as np
import pytest

from mfbench.data import files
from mfbench.data.catalog import find
from mfbench.data.files import load_isolated
from mfbench.data.lookup import Lookup
from mfbench.data.reference import parse_reference
from mfbench.errors import DataError
from mfbench.host.registry import load_registry
from mfbench.processes.call import ChildError

PLUGIN = """
from mfbench import DatasetSpec, hookimpl

NAMES = ("whole", "dies", "exits", "number", "listed", "objects", "surrogate")

@hookimpl
def mfbench_datasets():
    return [DatasetSpec(name=name, summary="", loader=f"shore_data:{name}") for name in NAMES]
"""
LOADERS = """
import os

import numpy as np

from mfbench import Dataset

def whole(n_samples=6, **changes):
    y = np.arange(n_samples) % 2
    X = np.column_stack([y + 0.5, np.where(y, np.nan, 1.0)])
    values = dict(name="whole", X=X, y=y, class_names=("no", np.str_("yes")), feature_names=("a", "b"),
                  categorical=np.array([False, True]), categories={"b": ("u", "v")}, encoding="ordinal",
                  relevant=(np.int64(0),), interactions=((0, 1),), response=y + 0.25, source="s", license="l",
                  citation="c")
    return Dataset(**{**values, **changes})

def dies(): os._exit(0)
def exits(): raise SystemExit(0)
def number(): return 3
def listed(): return whole(X=[[1.0]])
def objects(): return whole(X=np.array([[object()] * 2] * 6))
def surrogate(): return whole(feature_names=("a", "b\\ud800"), categories={})
"""


@pytest.fixture
def shore(tmp_path, monkeypatch):
    """A registry with the plugin above, isolated, and one that loads directly."""
    (tmp_path / "shore.py").write_text(PLUGIN)
    (tmp_path / "shore_data.py").write_text(LOADERS)
    monkeypatch.syspath_prepend(tmp_path)
    yield load_registry(only=["shore"], isolated=True)
    for name in ("shore", "shore_data"):
        sys.modules.pop(name, None)


@pytest.fixture
def in_process(monkeypatch):
    """Let the work of the child be done here."""

    def call(function, *args, **limits):
        try:
            return files.load(*args)
        except Exception as error:
            raise ChildError("error", f"{type(error).__name__}: {error}") from error

    monkeypatch.setattr(files, "call", call)


def load(registry, text):
    return find(parse_reference(text), registry, Lookup()).data


def test_a_real_child_loads_and_dies(shore):
    data = load(shore, "whole(n_samples=8)")
    assert data.n_samples == 8
    assert "shore_data" not in sys.modules
    with pytest.raises(DataError, match="dataset 'dies' of shore cannot be loaded: the process ended with exit code 0"):
        load(shore, "dies")


def test_everything_comes_back(shore, in_process):
    data = load_isolated(shore.entry("dataset", "whole"), {})
    direct = load_registry(only=["shore"]).entry("dataset", "whole")
    import shore_data

    expected = shore_data.whole()
    assert direct.prober is None
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(data, name), value, err_msg=name)
        assert type(getattr(data, name)) is type(value)
    assert type(data.relevant[0]) is int


def test_what_is_not_a_dataset_is_refused(subtests, shore, in_process):
    for name, reason in [
        ("number", "cannot be loaded: TypeError: it is a int, expected mfbench.Dataset"),
        ("listed", "X that is not a two-dimensional float64 array"),
        ("objects", "X that is not a two-dimensional float64 array"),
        ("surrogate", "which is not valid text"),
    ]:
        with subtests.test(name=name, reason=reason), pytest.raises(DataError, match=reason):
            load(shore, name)


def test_a_loader_that_exits_is_contained_without_a_child_too(shore):
    with pytest.raises(DataError, match="'exits' of shore cannot be loaded: SystemExit: 0"):
        load(load_registry(only=["shore"]), "exits")
