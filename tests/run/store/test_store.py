"""The store: what goes in comes out, whatever happens in between."""

import sqlite3

import numpy as np
import pytest

from mfbench.errors import RunError
from mfbench.model.trials import Status, Trial, TrialResult, Unavailable
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.formats import LIMITS, pack
from mfbench.run.store.store import Store
from mfbench.suite.protocols import Split


def trial(number: int, method: str = "A") -> Trial:
    return Trial(f"key{number}", "iris", method, 0, number, 2**32 - 1)


def result(number: int, **changes) -> TrialResult:
    values = {
        "key": f"key{number}",
        "duration": 1.5,
        "scores": {"accuracy": 0.1 + 0.2, "log_loss": float("nan")},
        "select_wall": 0.25,
        "peak_memory": 12345,
        "n_selected": 2,
        "selected": np.array([0, 300]),
        "weights": np.array([0.1, -np.inf, 1e-300]),
        "predictions": np.array([0, 1, 1]),
        "chosen": {"classifier.C": np.float64(0.5), "top": "positive", "n": np.int64(3), "none": None},
    }
    return TrialResult(**{**values, **changes})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as store:
        yield store


def test_a_result_comes_back_as_it_was(store):
    store.set_plan([trial(0), trial(1)])
    store.add(trial(0), result(0))
    row, pending = list(store.rows())
    assert row["status"] == "ok" and row["seed"] == 2**32 - 1
    assert row["scores"]["accuracy"] == 0.1 + 0.2 and np.isnan(row["scores"]["log_loss"])
    assert row["chosen"] == {"classifier.C": 0.5, "top": "positive", "n": 3, "none": None}
    for name in ("selected", "weights", "predictions"):
        np.testing.assert_array_equal(row[name], getattr(result(0), name))
    assert (row["duration"], row["select_wall"], row["peak_memory"], row["n_selected"]) == (1.5, 0.25, 12345, 2)
    assert pending["status"] is None and pending["fold"] == 1


def test_a_failure_comes_back_with_its_reason(store):
    store.set_plan([trial(0)])
    failed = TrialResult(
        key="key0", status=Status.CRASH, error_type="T", error_message="m", error_trace="t", duration=float("nan")
    )
    store.add(trial(0), failed)
    (row,) = store.rows()
    assert (row["status"], row["error_type"], row["error_message"], row["error_trace"]) == ("crash", "T", "m", "t")
    assert row["duration"] is None and row["predictions"] is None and row["scores"] == {}


def test_text_that_no_file_accepts_is_stored_as_escapes(store, make_metadata):
    """A lone surrogate in a message must not end the run each time that its trial is repeated."""
    store.begin(make_metadata(), [], [("d\ud800", "reason \udfff", None)])
    store.set_plan([trial(0)])
    words = dict.fromkeys(("error_type", "error_message", "error_trace", "warning"), "a\ud800b")
    store.add(trial(0), TrialResult(key="key0", status=Status.ERROR, **words))
    (row,) = store.rows()
    assert {row[name] for name in words} == {"a\\ud800b"}
    assert store.left_out() == {"d\\ud800": "reason \\udfff"}


def test_words_of_a_method_are_cut_and_cleaned(store, make_metadata):
    store.begin(make_metadata(), [], [("d", "\x1b[31m" + "r" * 1_000_000, None)])
    store.set_plan([trial(0)])
    words = dict.fromkeys(LIMITS.keys() - {"reason"}, "\x1b[31m\u202e" + "x" * 1_000_000)
    store.add(trial(0), TrialResult(key="key0", status=Status.ERROR, **words))
    (row,) = store.rows()
    for name in words:
        assert len(row[name]) == LIMITS[name] and row[name].isprintable()
    (reason,) = store.left_out().values()
    assert len(reason) == LIMITS["reason"] and reason.isprintable()


def test_a_plan_is_there_once_trials_are_planned(store):
    assert not store.has_plan()
    store.set_plan([trial(0)])
    assert store.has_plan()


def test_a_result_is_on_disk_at_once(store, tmp_path):
    store.add(trial(0), result(0))
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        assert other.execute("SELECT count(*) FROM trials").fetchone() == (1,)


def test_rows_of_an_earlier_plan_stay_but_are_not_shown(store):
    store.set_plan([trial(0)])
    store.add(trial(0), result(0))
    store.set_plan([trial(1)])
    assert [row["key"] for row in store.rows()] == ["key1"]
    assert store.finished() == {"key0"}


def test_the_same_key_is_one_row(store):
    store.set_plan([trial(0)])
    store.add(trial(0), result(0))
    store.add(trial(0), result(0, duration=9.0))
    assert [row["duration"] for row in store.rows()] == [9.0]


def test_failures_can_be_left_out_of_what_is_finished(store):
    store.add(trial(0), result(0))
    store.add(trial(1), TrialResult(key="key1", status=Status.TIMEOUT))
    assert store.finished() == {"key0", "key1"}
    assert store.finished([Status.TIMEOUT, Status.ERROR]) == {"key0"}


def test_datasets_splits_and_settings_come_back(store, make_metadata):
    dataset = {
        "label": "d", "sha256": "abc", "n_samples": 3, "n_features": 1, "class_names": ("x", "y"),
        "feature_names": ("f",), "relevant": None, "interactions": ((0, 1),),
        "collections": {"paper": "D"}, "source": "here", "truth": np.array([0, 1, 1]),
    }  # fmt: skip
    metadata = make_metadata()
    left_out = [("gone", "no reason", None), ("away", "offline", Unavailable(True, "no answer"))]
    store.begin(metadata, [dataset], left_out)
    rest = Split(np.array([1]), np.array([0, 2]))
    thirds = Split(np.array([0]), np.array([1]), (np.array([0]), np.array([2])), feature_share=0.5)
    store.add_splits("abc", "p", 0, [rest, thirds], (3, 4))
    (found,) = store.datasets()
    assert found["class_names"] == ["x", "y"] and found["relevant"] is None
    assert found["interactions"] == [[0, 1]] and found["collections"] == {"paper": "D"}
    np.testing.assert_array_equal(found["truth"], [0, 1, 1])
    assert store.meta() == metadata
    assert store.left_out() == {"gone": "no reason", "away": "offline"}
    assert store.unavailable() == {"away": Unavailable(True, "no answer")}
    splits = store.splits("abc", "p")
    assert [splits[0, fold].test.tolist() for fold in (0, 1)] == [[0, 2], [1]]
    assert splits[0, 0].train is None and splits[0, 0].validation is None
    assert splits[0, 1].train.tolist() == [0] and splits[0, 1].validation.tolist() == [2]
    assert [(split.n_train, split.n_features) for split in splits.values()] == [(1, 4), (1, 2)]
    assert store.split_repeats("abc", "p") == {0} and store.split_repeats("abc", "q") == set()


def test_a_failed_start_changes_nothing(store, make_metadata):
    store.begin(make_metadata(profile="quick"), [], [("d", "r", Unavailable())])
    with pytest.raises(RunError):
        store.begin(make_metadata(profile="full"), [], [("d", "r", None), ("d", "twice", None)])
    assert store.meta().profile == "quick" and store.left_out() == {"d": "r"}


def test_a_full_disk_is_reported_and_earlier_results_remain(store):
    store.add(trial(0), result(0))
    store._db.execute("PRAGMA max_page_count = 1")
    with pytest.raises(RunError, match=r"the disk is full or fails.*stay readable"):
        for number in range(1, 2000):
            store.add(trial(number), result(number))
    assert "key0" in store.finished()


def test_a_frozen_store_reads_the_state_of_that_moment(store, tmp_path):
    store.add(trial(0), result(0))
    with Store(tmp_path, read_only=True) as frozen, Store(tmp_path, read_only=True) as other:
        frozen.freeze()
        store.add(trial(1), result(1))
        assert frozen.finished() == {"key0"} and other.finished() == {"key0", "key1"}


def test_raw_rows_are_not_decoded(store):
    store.add(trial(0), result(0, predictions=np.array([1, 1])))
    (row,) = store.raw("SELECT scores, predictions FROM trials WHERE key = ?", ("key0",))
    assert row == ('{"accuracy": 0.30000000000000004, "log_loss": NaN}', pack(np.array([1, 1])))
    with pytest.raises(RunError, match="no such table"):
        list(store.raw("SELECT 1 FROM absent"))
