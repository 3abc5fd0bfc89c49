"""SQL in a store, which would run when the store is read: it is named, and nothing of it runs."""

import sqlite3
from contextlib import closing

import pytest

from mfbench.api import load_run
from mfbench.errors import RunError
from mfbench.run.store.file import FILE_NAME, SCHEMA
from mfbench.run.store.foreign_objects import foreign_object
from mfbench.run.store.store import Store

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
ATTACKS = {
    "the view 'trials'": f"ALTER TABLE trials RENAME TO kept; CREATE VIEW trials AS {ENDLESS} SELECT * FROM kept, n",
    "the trigger 't'": "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM plan; END",
    "the index 'i'": "CREATE INDEX i ON plan (upper(method))",
    "the table 'v'": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "the table 'w'": "CREATE  VIRTUAL  TABLE w USING fts5(a)",
    "a condition or formula in the table 'c'": "CREATE TABLE c (a CHECK (length(randomblob(900000000)) > 0))",
    "a condition or formula in the table 'plan'": "ALTER TABLE plan ADD COLUMN g TEXT AS (hex(zeroblob(100000000)))",
    "a computed default in the table 'd'": "CREATE TABLE d (a DEFAULT (randomblob(900000000)))",
    "the view 'left_out'": "ALTER TABLE left_out RENAME TO kept; CREATE VIEW left_out AS SELECT * FROM kept;"
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'View' WHERE type = 'view'",
    "the trigger 'u'": "CREATE TRIGGER u AFTER INSERT ON meta BEGIN DELETE FROM plan; END;"
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'TRIGGER' WHERE type = 'trigger'",
}


def attacked(path, statements):
    with closing(sqlite3.connect(path)) as db:
        db.executescript(statements)


@pytest.mark.parametrize(("name", "statements"), ATTACKS.items(), ids=list(ATTACKS))
class TestAttacks:
    def test_it_is_named_when_read_and_when_resumed(self, small_run, name, statements):
        folder = small_run.path
        path = folder / FILE_NAME
        attacked(path, statements)
        before = path.read_bytes()
        for use in (lambda: load_run(folder).frame(), lambda: Store(folder)):
            with pytest.raises(RunError, match="no store of mfbench holds") as caught:
                use()
            assert name in str(caught.value)
            assert str(path) in str(caught.value)
        assert path.read_bytes() == before


def test_a_store_of_this_version_holds_nothing_of_the_kind():
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        assert foreign_object(db) is None


def test_control_characters_in_a_name_are_not_shown():
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute('CREATE VIEW "a\x1b[31mb" AS SELECT 1')
        assert "\x1b" not in foreign_object(db)
