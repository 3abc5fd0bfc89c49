"""The store of a joined run: all or nothing."""

import sqlite3

import pytest

from mfbench.errors import RunError
from mfbench.run.merging import changed_store, insert
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store


def names(folder):
    with sqlite3.connect(folder / FILE_NAME) as db:
        return [name for (name,) in db.execute("SELECT name FROM meta ORDER BY name")]


@pytest.mark.parametrize("existing", [False, True])
def test_a_block_that_fails_changes_nothing(tmp_path, existing):
    target = tmp_path / "run"
    if existing:
        with Store(target) as store, store.writing("meta") as db:
            insert(db, "meta", [("before", "1")])
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(RuntimeError), changed_store(target) as db:
        insert(db, "meta", [("after", "1")])
        raise RuntimeError
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert not existing or names(target) == ["before"]
    with changed_store(target) as db:
        insert(db, "meta", [("after", "1")])
    assert names(target) == ["after"]


def test_a_reader_sees_the_old_state_until_it_looks_again(tmp_path):
    with Store(tmp_path) as store, store.writing("meta") as db:
        insert(db, "meta", [("before", "1")])
    with Store(tmp_path, read_only=True) as reader:
        reader.freeze()
        with changed_store(tmp_path) as db:
            insert(db, "meta", [("after", "1")])
        assert list(reader.raw("SELECT name FROM meta")) == [("before",)]
    assert names(tmp_path) == ["after"]


def test_a_row_that_is_there_stays(tmp_path):
    with changed_store(tmp_path) as db:
        insert(db, "meta", [("a", "1")])
        insert(db, "meta", [("a", "2")])
        assert list(db.execute("SELECT value FROM meta")) == [("1",)]


def test_a_new_store_is_in_the_mode_of_any_store(tmp_path):
    with changed_store(tmp_path / "run"):
        pass
    with sqlite3.connect(tmp_path / "run" / FILE_NAME) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_store_that_another_program_keeps_locked(tmp_path, monkeypatch):
    with changed_store(tmp_path):
        pass
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *words, **options: connect(*words, timeout=0.1, **options))
    with pytest.raises(RunError, match=r"^cannot use .*results.sqlite: database is locked$"), changed_store(tmp_path):
        pass
    other.close()
