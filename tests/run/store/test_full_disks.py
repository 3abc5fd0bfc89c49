"""A full folder is blamed, and no other."""

import errno
import os
import shutil
import types

import pytest

from mfbench.errors import RunError
from mfbench.run.store.full_disks import explain_full_store, file_errors, full_temporary_folder


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return a run folder and one of temporary files, and a list of those that are full."""
    run, temporary, full = tmp_path / "reports" / "run", tmp_path / "temporary", []
    run.mkdir(parents=True)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.delenv("SQLITE_TMPDIR", raising=False)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: types.SimpleNamespace(free=0 if place in full else 2**30))
    return run, temporary, full


def message(folder, error):
    with pytest.raises(RunError) as caught, file_errors(folder):
        raise error
    return str(caught.value)


def no_space(*file):
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *file)


def test_a_full_folder_of_temporary_files_is_named(folders):
    run, temporary, full = folders
    full.append(temporary)
    assert f"{temporary} is full" in message(run, no_space())
    assert str(run) not in message(run, no_space())
    assert str(temporary) in explain_full_store(run, "database or disk is full")


def test_a_full_run_folder_is_named_even_if_both_are(folders):
    run, temporary, full = folders
    full += [run, temporary]
    assert message(run, no_space()).startswith(f"cannot write all files of the run to {run}: No space left on device;")
    assert full_temporary_folder(run) is None and explain_full_store(run, "disk is full") is None


def test_another_file_is_named(folders):
    run, temporary, _ = folders
    assert message(run, no_space(str(temporary / "x"))).startswith(f"cannot use {temporary / 'x'}, which")
    assert str(run) in message(run, no_space(str(run / "environment.json.part")))
    assert str(run) in message(run, PermissionError(errno.EACCES, "Permission denied", str(run)))


def test_no_folder_of_temporary_files_is_no_fault_of_the_run(folders):
    words = "No usable temporary directory found in ['/a']"
    assert message(folders[0], FileNotFoundError(errno.ENOENT, words)).startswith(words)


def test_a_reader_that_has_gone_is_not_explained(folders):
    with pytest.raises(BrokenPipeError), file_errors(folders[0]):
        raise BrokenPipeError
