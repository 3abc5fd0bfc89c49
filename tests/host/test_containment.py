"""The main process keeps its search path, environment and warning filters, whatever a plugin's module does."""

import os
import sys
import warnings

import pytest

from mfbench.host.registry import load_registry

CARELESS = """
import os, sys, warnings
from mfbench import hookimpl, SelectorSpec

def change(where):
    sys.path.insert(0, "/vendored/by/" + where)
    os.environ["MADE_BY_" + where] = "1"
    os.environ.pop("MADE_BEFORE", None)
    warnings.simplefilter("error")

change("MODULE")

@hookimpl
def mfbench_selectors():
    change("HOOK")
    return [SelectorSpec(name="careless", summary="", factory="nowhere:At")]
"""


@pytest.fixture
def process(monkeypatch):
    monkeypatch.setenv("MADE_BEFORE", "1")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("MODULE", "HOOK"):
        os.environ.pop(f"MADE_BY_{name}", None)


def test_the_main_process_is_as_before(process, installed):
    installed(made_careless=CARELESS)
    path, environ, filters = list(sys.path), dict(os.environ), list(warnings.filters)
    registry = load_registry(isolated=True)
    assert "careless" in registry.listed("selector")
    assert (sys.path, dict(os.environ), warnings.filters) == (path, environ, filters)


def test_a_worker_keeps_what_the_modules_of_its_plugins_rely_on(process, installed):
    installed(made_careless=CARELESS)
    filters = list(warnings.filters)
    assert "careless" in load_registry().listed("selector")
    assert sys.path[:2] == ["/vendored/by/HOOK", "/vendored/by/MODULE"]
    assert os.environ["MADE_BY_HOOK"] == "1" and warnings.filters == filters


def test_a_filter_that_raises_does_not_hide_the_problem_of_another_plugin(process, installed):
    installed(made_careless=CARELESS, made_broken="raise ValueError('no way')")
    with pytest.warns(UserWarning, match="no way"):
        assert "careless" in load_registry(isolated=True).listed("selector")
