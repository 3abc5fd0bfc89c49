"""Make `small_runs` importable, and its plan a fixture."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "run"))


@pytest.fixture
def prepared(tmp_path):
    from small_runs import SUITE

    from mfbench.api import Request, prepare_suite

    path = tmp_path / "own.toml"
    path.write_text(SUITE)
    return prepare_suite(Request(str(path), out=tmp_path / "out"))
