"""A temporary folder goes with its block."""

import tempfile

import pytest

from mfbench.processes.temporary import temporary_folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_empty_and_gone_afterwards(folder):
    with temporary_folder("x") as own:
        assert own.is_dir() and not list(own.iterdir()) and own.parent.name.startswith("mfbench-x-")
        (own / "sub").mkdir()
    assert not list(folder.iterdir())


def test_it_is_gone_after_an_error(folder):
    with pytest.raises(RuntimeError), temporary_folder("x"):
        raise RuntimeError
    assert not list(folder.iterdir())
