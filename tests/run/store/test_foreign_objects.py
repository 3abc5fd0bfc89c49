"""SQL in a store, which would run when the store is read: it is named, and nothing of it runs."""

import sqlite3
from contextlib import closing

import pytest

from mfbench.api import load_run
from mfbench.errors import RunError
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
ATTACKS = {
    "'trials'": f"ALTER TABLE trials RENAME TO kept; CREATE VIEW trials AS {ENDLESS} SELECT * FROM kept, n",
    "'t'": "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM plan; END",
    "'i'": "CREATE INDEX i ON plan (upper(method))",
    "'v'": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "'w'": "CREATE  VIRTUAL  TABLE w USING fts5(a)",
    "'c'": "CREATE TABLE c (a CHECK (length(randomblob(900000000)) > 0))",
    "'plan'": "ALTER TABLE plan ADD COLUMN g TEXT AS (hex(zeroblob(100000000)))",
    "'d'": "CREATE TABLE d (a DEFAULT (randomblob(900000000)))",
    "'left_out'": "ALTER TABLE left_out RENAME TO kept; CREATE VIEW left_out AS SELECT * FROM kept;"
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'View' WHERE type = 'view'",
    "'u'": "CREATE TRIGGER u AFTER INSERT ON meta BEGIN DELETE FROM plan; END;"
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
            with pytest.raises(
                RunError, match=r"mfbench did not make it: its tables differ in .*nothing is executed"
            ) as caught:
                use()
            assert name in str(caught.value)
            assert str(path) in str(caught.value)
        assert path.read_bytes() == before
