"""Make modules of the tests of runs importable, and plan the suite of `small_runs`."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("run", "run/workers", "faults")]


@pytest.fixture
def prepared(tmp_path):
    from small_runs import SUITE

    from mfbench.api import Request, prepare_suite

    path = tmp_path / "own.toml"
    path.write_text(SUITE)
    return prepare_suite(Request(str(path), out=tmp_path / "out"))
