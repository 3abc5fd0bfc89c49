"""What is damaged in a store is not believed, and the next start writes or computes it again."""

import sqlite3

import numpy as np
import pytest

from mfbench.errors import RunError
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.file import FILE_NAME, MOST_NAMED, remark_on_damage
from mfbench.run.store.store import Store

TRIALS = [Trial(f"key{number}", "iris", "A", 0, number, number) for number in range(3)]


@pytest.fixture
def folder(tmp_path, make_metadata):
    with Store(tmp_path) as store:
        store.begin(make_metadata(), [], [])
        store.set_plan(TRIALS)
        for trial in TRIALS:
            store.add(trial, TrialResult(key=trial.key, predictions=np.array([0, 1, 1]), scores={"accuracy": 0.5}))
    return tmp_path


def change(folder, statement):
    with sqlite3.connect(folder / FILE_NAME) as db:
        db.execute(statement)
    db.close()


def test_a_damaged_result_reads_as_if_it_had_not_run_and_a_start_removes_it(subtests, folder):
    for damage in [
        "scores = '{\"accuracy\": 0.6}'",
        "status = 'timeout'",
        "scores = CAST(x'ff' AS TEXT)",
        "predictions = x'00'",
        "error_message = CAST('' AS BLOB)",
        "seed = seed + 1",
        "checksum = checksum + 1",
        "checksum = NULL",
    ]:
        with subtests.test(damage=damage):
            change(folder, f"UPDATE trials SET {damage} WHERE key = 'key1'")
            with Store(folder, read_only=True) as store:
                assert [row["status"] for row in store.rows()] == ["ok", None, "ok"]
                assert store.table(("status",))["status"] == ["ok", None, "ok"]
                assert list(store.raw("SELECT key FROM trials")) == [("key0",), ("key2",)]
                assert store.damaged == ["A on iris, repeat 0, fold 1"]
            with Store(folder) as store:
                (remark,) = store.repair()
                assert (
                    "the results of 1 trial are damaged" in remark.lower() and "A on iris, repeat 0, fold 1" in remark
                )
                assert store.finished() == {"key0", "key2"}
                store.add(TRIALS[1], TrialResult(key="key1"))
            with Store(folder, read_only=True) as store:
                assert store.finished() == {"key0", "key1", "key2"} and not store.damaged


def test_a_damaged_key_is_found_though_no_search_reaches_it(folder):
    """In the order of the keys, the row is not where its key belongs."""
    with sqlite3.connect(folder / FILE_NAME) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'trials'").fetchone()
    content = bytearray((folder / FILE_NAME).read_bytes())
    start = content.index(b"key1", 4096 * (page - 1))
    content[start : start + 4] = b"zzz1"
    (folder / FILE_NAME).write_bytes(content)
    with Store(folder, read_only=True) as store:
        assert store.finished() == {"key0", "key2"} and store.damaged == ["one that is not in the plan"]
    with Store(folder) as store:
        store.repair()
        assert list(store.raw("PRAGMA integrity_check")) == [("ok",)]


@pytest.mark.parametrize("table", ["meta", "plan"])
def test_a_table_that_lost_a_row_is_an_error_until_a_start_writes_it_again(folder, table, make_metadata):
    change(
        folder,
        f"DELETE FROM {table} WHERE {'position = 1' if table == 'plan' else 'name = (SELECT min(name) FROM meta)'}",
    )
    with (
        Store(folder, read_only=True) as store,
        pytest.raises(RunError, match=f"is damaged .*{table}.* command of its run"),
    ):
        store.meta() if table == "meta" else list(store.rows())
    with Store(folder) as store:
        assert f"the content of {table} is written again" in store.repair()[0]
        store.begin(make_metadata(), [], [])
        store.set_plan(TRIALS)
        assert store.repair() == []
    with Store(folder, read_only=True) as store:
        assert [row["status"] for row in store.rows()] == ["ok"] * 3 and store.meta()


def test_a_comparison_is_made_once(folder):
    checked = set()
    with Store(folder, read_only=True, checked=checked) as store:
        store.finished()
    assert checked == {"trials"}
    change(folder, "UPDATE trials SET seed = 9")
    with Store(folder, read_only=True, checked=checked) as store:
        assert len(store.finished()) == 3


def test_long_lists_are_cut():
    (remark,) = remark_on_damage([f"trial {number}" for number in range(MOST_NAMED + 5)])
    assert "15 trials" in remark and remark.count(";") == MOST_NAMED + 1 and "5 more" in remark
    assert remark_on_damage([]) == []


def test_a_curve_that_appears_or_changes_is_damage(folder):
    change(folder, "UPDATE trials SET curve = x'00' WHERE key = (SELECT MIN(key) FROM trials)")
    with Store(folder, read_only=True) as store:
        assert len(store.damaged) == 1
