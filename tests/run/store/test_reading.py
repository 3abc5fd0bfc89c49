"""Reading a store: content that cannot be decoded is one sentence that names the file."""

import pytest
from tampering import changed

from mfbench.errors import RunError
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store import store as store_reading
from mfbench.run.store.store import Store


@pytest.fixture
def folder(tmp_path, make_metadata):
    trial = Trial("key", "iris", "A", 0, 0, 0)
    with Store(tmp_path) as store:
        store.begin(make_metadata(), [], [])
        store.set_plan([trial])
        store.add(trial, TrialResult(key="key", scores={"accuracy": 0.5}))
    return tmp_path


@pytest.mark.parametrize("damage", ["scores = '{'", "predictions = x'69317aff'", "candidates = x'00'"])
def test_a_result_that_cannot_be_decoded_although_its_checksum_fits(folder, damage):
    with changed(folder) as db:
        db.execute(f"UPDATE trials SET {damage}")
    with Store(folder, read_only=True) as store, pytest.raises(RunError, match="is damaged"):
        list(store.rows())


def test_metadata_that_cannot_be_decoded(folder):
    with changed(folder) as db:
        db.execute("UPDATE meta SET value = '{'")
    with Store(folder, read_only=True) as store:
        with pytest.raises(RunError, match="is damaged"):
            store.meta()
        with pytest.raises(RunError, match="is damaged"):
            store.recorded("machines", {})


@pytest.mark.parametrize("absent", [[], [("wine", "A", 0, 0), ("wine", "A", 0, 1)]])
def test_columns_that_are_read_in_blocks_are_those_of_the_rows(folder, monkeypatch, absent):
    """Whether or not the last block is full, with results, without one, and trials that the run lacks."""
    trials = [Trial(f"key{fold}", "iris", "A", 0, fold, 0) for fold in range(5)]
    with Store(folder) as store:
        store.set_plan(trials)
        for trial in trials[:4]:
            store.add(trial, TrialResult(key=trial.key, scores={"accuracy": trial.fold / 4}))
    columns = ("status", "scores", "duration")
    with Store(folder, read_only=True) as store:
        store.absent = absent
        rows = list(store.rows(columns))
        for size in (1, 2, 5, 100):
            monkeypatch.setattr(store_reading, "_BLOCK", size)
            table = store.table(columns)
            assert table == {name: [row[name] for row in rows] for name in table}
    assert len(rows) == 5 + len(absent) and rows[0]["scores"] == {"accuracy": 0.0}


def test_a_run_without_a_plan_has_empty_columns(folder):
    with Store(folder) as store:
        store.set_plan([])
    with Store(folder, read_only=True) as store:
        assert store.table(("status", "scores")) == {
            name: [] for name in ("dataset", "method", "repeat", "fold", "key", "status", "scores")
        }
