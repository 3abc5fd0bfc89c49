"""What is read of a store: plain columns at once, arrays later, and nothing of another plan."""

import pytest

from mfbench.errors import RunError, UnknownNameError
from mfbench.model.trials import Trial
from mfbench.run.store.metadata import RecordedShard
from mfbench.run.store.store import Store
from mfbench.stats.stored import StoredRun


def test_plain_columns_come_without_arrays(run_folder):
    columns = StoredRun(run_folder).columns
    assert columns["method"] == ["A", "A", "B", "B"]
    assert columns["status"] == ["ok", "ok", "ok", "error"]
    assert not {"predictions", "selected", "weights"} & set(columns)


def test_datasets_left_out_have_reasons(run_folder):
    stored = StoredRun(run_folder)
    assert stored.left_out == {"broken": "damaged", "away": "no network"}
    assert set(stored.unavailable) == {"away"}


def test_rows_with_some_columns_have_no_others(run_folder):
    rows = StoredRun(run_folder).rows_with(("status", "selected"))
    assert [None if row["selected"] is None else row["selected"].tolist() for row in rows] == [[0], [1], [0], None]
    assert "predictions" not in rows[0]


def test_folds_with_predictions(run_folder):
    (fold,) = StoredRun(run_folder).tested_folds("d", "B")
    assert (fold.repeat, fold.fold, fold.test.tolist()) == (0, 0, [0, 1])


def test_an_unknown_dataset_is_answered_with_the_names(run_folder):
    with pytest.raises(UnknownNameError, match="unknown dataset 'e' of this run: choose from d"):
        StoredRun(run_folder).dataset("e")


def test_arrays_of_another_plan_are_refused(run_folder):
    stored = StoredRun(run_folder)
    with Store(run_folder) as store:
        store.set_plan([Trial("new", "d", "A", 0, 0, 1)])
    with pytest.raises(RunError, match="planned again after this run was loaded"):
        _ = stored.rows


def test_the_trials_that_a_part_of_a_run_lacks_have_no_result_yet(tmp_path, timed_run, timed):
    """A mean over other folds than those of another method must not be compared with it."""
    shard = RecordedShard(numbers=[1], of=2, run="whole", digest="d", n_trials=8)
    whole = {(dataset, method): [timed(1.0), timed(2.0)] for dataset in ("iris", "wine") for method in "AB"}
    run = timed_run(whole, shard=shard)
    with Store(run.path) as store, store.writing("plan") as db:
        db.execute("DELETE FROM plan WHERE position IN (1, 2)")
        db.execute("DELETE FROM trials WHERE key NOT IN (SELECT key FROM plan)")
    part = type(run)(run.path)
    columns = StoredRun(run.path).columns
    assert len(columns["key"]) == 8 and columns["key"].count(None) == 2
    assert part.n_pending == 2
    assert part.scores.set_index(["dataset", "method"])["complete"].to_dict() == {
        ("iris", "A"): False, ("iris", "B"): False, ("wine", "A"): True, ("wine", "B"): True,
    }  # fmt: skip
    assert len(StoredRun(run.path).rows) == 8
    place = run.path.rename(run.path.with_name(shard.folder_name))
    command = f"mfbench merge {tmp_path}/whole-shard-*-of-2"
    assert type(run)(place).remarks == [f"Shard 1 of 2: 6 of 8 trials. To join all shards, run: {command}"]


def test_rows_are_read_only_if_a_column_has_a_value(run_folder, monkeypatch):
    stored = StoredRun(run_folder)
    assert len(stored.rows_having("selected")) == len(stored.columns["key"])
    monkeypatch.setattr(StoredRun, "rows_with", None)
    assert stored.rows_having("interactions") == []
