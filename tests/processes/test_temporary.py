"""What a killed process leaves in the folder of temporary files goes with the next start, and nothing else does."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from mfbench.processes.temporary import remove_left_behind, temporary_folder

HOLD = """
import sys, time
from mfbench.processes.temporary import temporary_folder
with temporary_folder("held") as folder:
    (folder / "file").write_text("text")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def hold():
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_it_is_empty_and_gone_afterwards(folder):
    with temporary_folder("x") as own:
        assert own.is_dir() and not list(own.iterdir()) and own.parent.name.startswith("mfbench-x-")
        (own / "sub").mkdir()
    assert not list(folder.iterdir())


def test_it_is_gone_after_an_error(folder):
    with pytest.raises(RuntimeError), temporary_folder("x"):
        raise RuntimeError
    assert not list(folder.iterdir())


def test_that_of_a_killed_process_is_removed_and_that_of_a_running_one_stays():
    (running, kept), (killed, left) = hold(), hold()
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert left.is_dir()
        with temporary_folder("x"):
            assert not left.parent.exists() and (kept / "file").read_text() == "text"
    finally:
        for process in (running, killed):
            process.kill()
            process.wait()
            process.stdout.close()


def test_folders_without_a_lock_files_and_links_stay(folder):
    precious = folder / "precious"
    (precious / "content").mkdir(parents=True)
    (precious / "owner.lock").touch()
    (folder / "mfbench-link").symlink_to(precious)
    (folder / "mfbench-mine").mkdir()
    (folder / "mfbench-file").touch()
    remove_left_behind()
    assert {path.name for path in folder.iterdir()} == {"precious", "mfbench-link", "mfbench-mine", "mfbench-file"}
    assert (precious / "content").is_dir()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users")
def test_those_of_other_users_stay(folder, monkeypatch):
    (folder / "mfbench-theirs").mkdir()
    (folder / "mfbench-theirs" / "owner.lock").touch()
    monkeypatch.setattr(os, "getuid", lambda: 10**6)
    remove_left_behind()
    assert (folder / "mfbench-theirs").is_dir()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    remove_left_behind()
    assert not (folder / "mfbench-theirs").exists()


def test_many_at_once_do_not_remove_each_others(folder):
    failures = []

    def work():
        for _ in range(30):
            with temporary_folder("x") as own:
                (own / "file").touch()
                remove_left_behind()
                if not (own / "file").exists():
                    failures.append(own)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and not list(folder.iterdir())
