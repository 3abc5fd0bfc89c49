"""Starting over: earlier results are kept until new ones can be made."""

from contextlib import suppress
from pathlib import Path

import pytest

from mfbench.run.store.file import ASIDE, FILE_NAME, set_aside


@pytest.fixture
def folder(tmp_path):
    for name, text in ((FILE_NAME, "old"), (f"{FILE_NAME}-wal", "log"), ("environment.json", "{}"), (".lock", "")):
        (tmp_path / name).write_text(text)
    return tmp_path


def content(folder):
    return {path.name: path.read_text() if path.is_file() else "folder" for path in folder.iterdir()}


def test_results_are_gone_once_they_are_discarded(folder):
    with set_aside(folder, True) as discard:
        assert content(folder) == {".lock": "", ASIDE: "folder"}
        (folder / FILE_NAME).write_text("new")
        discard()
        discard()
    assert content(folder) == {".lock": "", FILE_NAME: "new"}


def test_files_that_the_run_did_not_write_stay(folder):
    own = {"notes.md": "mine", "plot.html": "mine", "table.json": "mine", "output.log": "mine"}
    for name, text in own.items():
        (folder / name).write_text(text)
    with set_aside(folder, True) as discard:
        discard()
    assert content(folder) == {".lock": "", **own}


def test_a_start_that_fails_costs_nothing(folder):
    before = content(folder)

    def start():
        with set_aside(folder, True):
            (folder / FILE_NAME).write_text("new")
            (folder / f"{FILE_NAME}-shm").write_text("new")
            raise OSError("no scheduler")

    with pytest.raises(OSError, match="no scheduler"):
        start()
    assert content(folder) == before


def test_what_a_killed_process_set_aside_comes_back(folder):
    before = content(folder)
    killed = set_aside(folder, True)
    killed.__enter__()  # and nothing else: the process is gone
    (folder / FILE_NAME).write_text("new")
    with set_aside(folder, False):
        assert content(folder) == before
    assert content(folder) == before


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_process_that_is_killed_while_it_moves_files_loses_none(folder, moved, monkeypatch):
    before = content(folder)
    replace, calls = Path.replace, []

    def stop(path, target):
        calls.append(path)
        if len(calls) > moved:
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        for is_fresh in (True, False):  # the next start is killed too, while it moves them back
            calls.clear()
            with suppress(KeyboardInterrupt):
                set_aside(folder, is_fresh).__enter__()
    with set_aside(folder, False):
        assert content(folder) == before


def test_without_fresh_nothing_moves(folder):
    before = content(folder)
    with set_aside(folder, False) as discard:
        discard()
        assert content(folder) == before
    assert content(folder) == before


def test_a_process_that_is_killed_while_it_discards_loses_no_new_result(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda path, **options: None)
        with set_aside(folder, True) as discard:
            (folder / FILE_NAME).write_text("new")
            discard()
    with set_aside(folder, False):
        assert (folder / FILE_NAME).read_text() == "new"
