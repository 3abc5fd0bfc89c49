"""Checksums of rows and tables."""

import sqlite3

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mfbench.run.store.seals import TRIAL_COLUMNS, WHOLE, add_to_seal, checksum, differing, fill_checksums, seal
from mfbench.run.store.store import Store

VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()


@given(st.lists(VALUES.filter(lambda value: not isinstance(value, str) or value.isprintable()), max_size=5))
def test_a_row_has_the_same_checksum_before_and_after_it_is_stored(row):
    with sqlite3.connect(":memory:") as db:
        for kind in ("", "REAL", "INTEGER"):
            if kind and any(isinstance(value, str | int) for value in row):
                continue  # a column of numbers makes numbers of text
            names = [f"c{number}" for number in range(len(row))] or ["c"]
            db.execute(f"CREATE TABLE t{kind} ({', '.join(f'{name} {kind}' for name in names)})")
            db.execute(f"INSERT INTO t{kind} VALUES ({', '.join('?' * len(names))})", row or [None])
            (stored,) = db.execute(f"SELECT * FROM t{kind}")
            assert checksum(stored) == checksum(row or [None])


def test_the_checksum_of_a_row_does_not_change_between_versions():
    """Those in the stores of users were computed by earlier versions of mfbench and of Python."""
    assert checksum(["key", 1, 0.25, None, b"\x00\xff", "ä", 2**40, -0.0, True]) == 2886823582


def test_numbers_of_numpy_count_as_numbers():
    assert checksum([np.float64(0.5), np.float64("nan"), True]) == checksum([0.5, None, 1])


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
        add_to_seal(db, "splits", row)
        assert differing(db, WHOLE) == []
        db.execute("UPDATE splits SET fold = 1")
        assert differing(db, WHOLE) == ["splits"]
        seal(db, "splits")
        db.execute("DELETE FROM splits")
        assert differing(db, WHOLE) == ["splits"]
        db.execute("DELETE FROM seals WHERE name = 'meta'")
        assert differing(db, WHOLE) == ["meta", "splits"]


def test_a_result_whose_text_is_not_utf_8_gets_no_checksum(tmp_path):
    with Store(tmp_path) as store, store.writing() as db:
        for key in ("good", "bad"):
            db.execute("INSERT INTO trials (key, seed, status) VALUES (?, 1, 'ok')", [key])
        db.execute("UPDATE trials SET warning = CAST(x'ff' AS TEXT) WHERE key = 'bad'")
        fill_checksums(db)
        sums = dict(db.execute("SELECT key, checksum FROM trials"))
        assert sums["good"] is not None and sums["bad"] is None
