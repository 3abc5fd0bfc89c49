"""The file of a store: versions, readers next to a writer, and errors of SQLite in one sentence."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from mfbench.errors import RunError
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store import file as store_file
from mfbench.run.store import store as store_store
from mfbench.run.store.file import FILE_NAME, SCHEMA_VERSION, reason_of
from mfbench.run.store.store import Store


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 7])
def test_another_version_is_refused(tmp_path, version, read_only):
    Store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(RunError, match=f"schema version {version}, .*use the mfbench that wrote it, or .*--fresh"):
        Store(tmp_path, read_only=read_only)


def test_a_folder_without_a_run_is_reported(tmp_path):
    with pytest.raises(RunError, match="holds no run"):
        Store(tmp_path, read_only=True)


def test_a_reader_cannot_write_and_reads_next_to_a_writer(tmp_path):
    trials = [Trial(f"key{number}", "iris", "A", 0, number, number) for number in range(2)]
    with Store(tmp_path) as writer:
        writer.add(trials[0], TrialResult(key="key0"))
        with Store(tmp_path, read_only=True) as reader:
            assert reader.finished() == {"key0"}
            with pytest.raises(RunError, match="cannot be written to"):
                reader.add(trials[1], TrialResult(key="key1"))


def test_a_start_that_was_interrupted_is_reported_to_readers(tmp_path):
    sqlite3.connect(tmp_path / FILE_NAME).execute("CREATE TABLE x (y)").connection.close()
    with pytest.raises(RunError, match="never started completely"):
        Store(tmp_path, read_only=True)


def test_an_error_of_sqlite_is_one_sentence_that_names_the_file(subtests, tmp_path):
    for text, expected in [
        ("database or disk is full", "free some space"),
        ("attempt to write a readonly database", "choose another folder"),
        ("file is not a database", "is damaged"),
        ("database is locked", "cannot use"),
    ]:
        with subtests.test(text=text, expected=expected):
            sentence = reason_of(tmp_path / FILE_NAME, text)
            assert expected in sentence and str(tmp_path / FILE_NAME) in sentence


def test_a_closed_store_is_read_on_a_full_disk(tmp_path, monkeypatch):
    """The index of the log, which an ordinary connection makes, needs room."""
    with Store(tmp_path) as store:
        store.add(Trial("key", "iris", "A", 0, 0, 0), TrialResult(key="key"))
    connect = sqlite3.connect

    def without_room(place, **options):
        if not options.get("uri"):
            raise sqlite3.OperationalError("disk I/O error")
        return connect(place, **options)

    monkeypatch.setattr(store_file.sqlite3, "connect", without_room)
    with Store(tmp_path, read_only=True) as reader:
        assert reader.finished() == {"key"}
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"results that the file alone does not have")
    with pytest.raises(RunError, match=r"was not closed and its folder cannot be written to .*; copy the folder"):
        Store(tmp_path, read_only=True)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_without_its_end_is_damaged(tmp_path, read_only):
    """SQLite would read zeros: the last pages of a long text or array are not checked."""
    with Store(tmp_path) as store, store.writing("meta") as db:
        db.execute("INSERT INTO meta VALUES ('long', ?)", ["x" * 100_000])
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-4000])
    with (
        Store(tmp_path, read_only=read_only) as store,
        pytest.raises(RunError, match=r"results.sqlite is damaged \(the content of meta differs"),
    ):
        store.meta()


def test_the_file_alone_has_what_was_written_before_the_last_moment(tmp_path, monkeypatch):
    """A kill leaves the log behind; whoever copies the file without it must not lose the run."""
    clock = [100.0]
    monkeypatch.setattr(store_store.time, "monotonic", lambda: clock[0])
    run, copy = tmp_path / "run", tmp_path / "copy"
    copy.mkdir()
    with Store(run) as store:
        for number in range(4):
            store.add(Trial(f"key{number}", "iris", "A", 0, number, number), TrialResult(key=f"key{number}"))
            clock[0] += 0.6 * store_store.CHECKPOINT_SECONDS
        shutil.copy(run / FILE_NAME, copy)
        with Store(copy, read_only=True) as alone:
            assert alone.finished() == {"key0", "key1", "key2"}


def test_closing_moves_the_log_to_the_file_although_another_process_reads(tmp_path):
    run, copy = tmp_path / "run", tmp_path / "copy"
    copy.mkdir()
    store = Store(run)
    store.add(Trial("key0", "iris", "A", 0, 0, 0), TrialResult(key="key0"))
    with Store(run, read_only=True):
        store.add(Trial("key1", "iris", "A", 0, 1, 1), TrialResult(key="key1"))
        store.close()
        shutil.copy(run / FILE_NAME, copy)
    with Store(copy, read_only=True) as alone:
        assert alone.finished() == {"key0", "key1"}
