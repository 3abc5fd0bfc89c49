"""The file of a history: whatever it is instead, the user reads one sentence."""

import os
import random
import sqlite3

import pytest

from mfbench.errors import UsageError
from mfbench_gate.history import storage
from mfbench_gate.history.storage import HistoryError, add_entries, open_history, read_entries


def reading(path):
    with open_history(path) as db:
        return db.execute("SELECT COUNT(*) FROM runs").fetchone()[0]


@pytest.fixture
def history(tmp_path, make_entry):
    path = tmp_path / "history.sqlite"
    add_entries(path, [make_entry(k, {("A", f"d{n}"): 1.0 for n in range(200)}) for k in range(5)])
    return path


def test_a_new_file_is_a_history_with_its_folder(tmp_path):
    path = tmp_path / "ci" / "history.sqlite"
    with open_history(path, write=True):
        pass
    assert reading(path) == 0


def test_a_missing_file(tmp_path):
    with pytest.raises(UsageError, match=r"there is no history .*; 'mfbench track add RUN --history .*' creates it"):
        reading(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_folder(tmp_path):
    with pytest.raises(UsageError, match="is a folder; --history names a file"):
        reading(tmp_path)


def test_an_empty_file(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(HistoryError, match="is empty"):
        reading(tmp_path / "empty")


@pytest.mark.parametrize("write", [False, True])
def test_not_sqlite(tmp_path, write):
    (tmp_path / "text").write_text("seconds, commit\n" * 100)
    with (
        pytest.raises(HistoryError, match="is not a history: it is not an SQLite file"),
        open_history(tmp_path / "text", write=write),
    ):
        pass
    assert (tmp_path / "text").read_text().startswith("seconds")


@pytest.mark.parametrize("write", [False, True])
def test_another_sqlite_file_stays_as_it_is(tmp_path, write):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE meta (name)")
    before = path.read_bytes()
    with (
        pytest.raises(HistoryError, match="is another SQLite file, not a history of schema version 1"),
        open_history(path, write=write),
    ):
        pass
    assert path.read_bytes() == before


def test_another_version(history):
    with sqlite3.connect(history) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(HistoryError, match="not a history of schema version 1"):
        reading(history)


def test_a_damaged_file(history):
    size = history.stat().st_size
    with history.open("r+b") as content:
        content.seek(4096)
        content.write(random.Random(0).randbytes(size - 4096))
    with pytest.raises(HistoryError, match=r"is damaged .*; restore a copy"):
        read_entries(history)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to any file")
def test_a_file_without_the_right_to_write(history, make_entry):
    history.chmod(0o400)
    with pytest.raises(HistoryError, match="cannot be written to"):
        add_entries(history, [make_entry(9)])


def test_a_database_without_the_right_to_write(history, make_entry, monkeypatch):
    def read_only(path, write):
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)

    monkeypatch.setattr(storage, "_connect", read_only)
    with pytest.raises(HistoryError, match="cannot be written to; make the file and its folder writable"):
        add_entries(history, [make_entry(9)])


def test_a_file_that_another_process_keeps_locked(history, make_entry, monkeypatch):
    monkeypatch.setattr(storage, "BUSY_SECONDS", 0.01)
    with open_history(history, write=True), pytest.raises(HistoryError, match="another process has been writing to it"):
        add_entries(history, [make_entry(9)])


def test_a_failure_leaves_no_trace(history, make_entry):
    with pytest.raises(KeyError), open_history(history, write=True) as db:
        db.execute("DELETE FROM measurements")
        raise KeyError("interrupted")
    assert len(read_entries(history)[0].measurements) == 200


def test_a_closed_history_is_one_file(history):
    assert [path.name for path in history.parent.iterdir()] == ["history.sqlite"]
