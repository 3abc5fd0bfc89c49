"""Checksums of rows and tables."""

from mfbench.run.store.checksums import TRIAL_COLUMNS, WHOLE, checksum, differing, seal
from mfbench.run.store.store import Store


def test_the_checksum_of_a_row_is_the_same_in_every_version_of_python():
    assert checksum(["key", 1, 0.25, None, b"\x00\xff", "ä", 2**40, -0.5]) == 1438562287


def test_another_value_or_type_has_another_checksum(subtests):
    for other in [("key", 1, "a"), ("key", 0, b"a"), ("key", 0, "b"), ("kez", 0, "a"), ("key", None, "a")]:
        with subtests.test(other=other):
            assert checksum(other) != checksum(("key", 0, "a"))


def test_the_columns_are_those_of_the_schema(tmp_path):
    with Store(tmp_path) as store, store.writing() as db:
        for table, columns in {**WHOLE, "trials": (*TRIAL_COLUMNS, "checksum")}.items():
            assert {row[1] for row in db.execute(f"PRAGMA table_info({table})")} == set(columns)


def test_a_row_that_is_added_changed_or_gone_shows(tmp_path):
    row = ("sha", "p", 0, 0, b"rows", None, None, 1, 1)
    with Store(tmp_path) as store, store.writing() as db:
        db.execute("INSERT INTO splits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        assert differing(db, WHOLE) == ["splits"]
        seal(db, "splits")
        assert differing(db, WHOLE) == []
        db.execute("UPDATE splits SET fold = 1")
        assert differing(db, WHOLE) == ["splits"]
        seal(db, "splits")
        db.execute("DELETE FROM splits")
        assert differing(db, WHOLE) == ["splits"]
        db.execute("DELETE FROM checksums WHERE name = 'meta'")
        assert differing(db, WHOLE) == ["meta", "splits"]
