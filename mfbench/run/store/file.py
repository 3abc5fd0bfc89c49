"""The file of a store: opening it, explaining its errors, and what is damaged in it.

Damaged results count as not run, and a damaged table is an error.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock

from mfbench.base.text import counted, listing, plain
from mfbench.errors import NeverStartedError, RunError
from mfbench.run.store.checksums import RESULTS, SCHEMA, TRIAL_COLUMNS, WHOLE, any_text, checksum, differing, seal

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 1
FILE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions raised by SQLite; the latter if a message quotes damaged text."""
_SIGNS_OF_DAMAGE = ("not a database", "malformed", "no such column", "ould not decode", "can't decode")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit everything in the block or, if it raises, nothing; joins a transaction that is already open."""
    if db.in_transaction:
        yield
    else:
        with db:
            db.execute("BEGIN")
            yield


def open_store(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store; in write mode, create the file and its folder if necessary."""
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
    db = _connect_to_read(path) if read_only else sqlite3.connect(path, isolation_level=None)
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0 and read_only:
            raise NeverStartedError(path.parent)
        if version == 0:
            db.execute("PRAGMA journal_mode = WAL")
            with transaction(db):
                for statement in (*SCHEMA.values(), f"PRAGMA user_version = {SCHEMA_VERSION}"):
                    db.execute(statement)
                seal(db, *WHOLE)
        elif version != SCHEMA_VERSION:
            raise RunError(
                f"{path} has schema version {version}, but this mfbench reads version {SCHEMA_VERSION}; "
                "use the mfbench that wrote it, or start its run over with --fresh"
            )
        _check_schema(db, path)
        db.execute(f"PRAGMA query_only = {read_only:d}")
        # Commits survive a killed process; a power cut may lose the last ones, but never the file.
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _connect_to_read(path: Path) -> sqlite3.Connection:
    try:
        # Not with "mode=ro", which would leave the log's files behind.
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        # The log's index needs a writable folder. A closed store needs no index.
        log = path.with_name(f"{path.name}-wal")
        if log.is_file() and log.stat().st_size:
            raise RunError(
                f"{path} was not closed and its folder cannot be written to ({error}); copy the folder and "
                "read the copy"
            ) from error
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", isolation_level=None, uri=True)
    return db


def _check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Reject a store with SQL that would run when its tables are used."""
    db.execute("PRAGMA trusted_schema = OFF")
    different = {*SCHEMA.items()} ^ {*db.execute("SELECT name, sql FROM sqlite_master")}
    if different:
        names = listing(sorted({repr(plain(str(name)[:80])) for name, _ in different}))
        raise RunError(damaged(path, f"mfbench did not make it: its tables differ in {names}, and nothing is executed"))


def reason_of(path: Path, text: str) -> str:
    """Explain an SQLite error in one sentence."""
    if "full" in text or "disk I/O" in text:  # SQLite's message depends on which file ran out of space
        return (
            f"the disk is full or fails ({text}): no more results fit into {path}; free some space there and in the "
            "folder of temporary files (TMPDIR), and repeat the command; earlier results stay readable"
        )
    if "readonly" in text or "read-only" in text:
        return f"{path} cannot be written to; choose another folder with --out"
    if any(part in text for part in _SIGNS_OF_DAMAGE):
        return damaged(path, text)
    return f"cannot use {path}: {text}"


def damaged(path: Path, reason: str) -> str:
    """Return the message for an unreadable store."""
    return f"{path} is damaged ({reason}); move it elsewhere, or start its run over with --fresh"


MOST_NAMED = 10


def check_tables(db: sqlite3.Connection, path: Path, tables: Sequence[str]) -> None:
    """Verify the checksums of tables that describe the run as a whole."""
    if broken := differing(db, tables):
        raise RunError(
            f"{path} is damaged (the content of {listing(broken)} differs from its checksum); "
            "give the command of its run again, which writes this part again and keeps intact results"
        )


def set_damaged_aside(db: sqlite3.Connection) -> list[str]:
    """Remove damaged results, for a reader by shadowing their table with a temporary one; return a name for each."""
    with any_text(db):
        damaged = [row[0] for row in db.execute(f"{RESULTS} main.trials") if not _is_intact(row)]
        if not damaged:
            return []
        places = {key: place for key, *place in db.execute("SELECT key, method, dataset, repeat, fold FROM plan")}
        (is_read_only,) = db.execute("PRAGMA query_only").fetchone()
        db.execute("PRAGMA query_only = OFF")
        columns = ", ".join((*TRIAL_COLUMNS, "checksum"))
        db.execute(f"CREATE TEMP TABLE trials ({columns}, PRIMARY KEY (key)) WITHOUT ROWID")
        # Rows are not looked up by key: a damaged key would not be found.
        intact = filter(_is_intact, db.execute(f"{RESULTS} main.trials"))
        marks = ", ".join("?" * (len(TRIAL_COLUMNS) + 1))
        db.executemany(f"INSERT OR IGNORE INTO temp.trials ({columns}) VALUES ({marks})", intact)
        db.execute(f"PRAGMA query_only = {is_read_only}")
        if not is_read_only:  # added results must not go to the temporary table
            db.execute("DELETE FROM main.trials")
            db.execute("INSERT INTO main.trials SELECT * FROM temp.trials")
            db.execute("DROP TABLE temp.trials")
    return [
        "{} on {}, repeat {}, fold {}".format(*places[key]) if key in places else "one that is not in the plan"
        for key in damaged
    ]


def _is_intact(row: tuple[Any, ...]) -> bool:
    return bool(row[-1] == checksum(row[:-1]))


def repair(db: sqlite3.Connection, path: Path) -> list[str]:
    """Remove damaged content, which the start of a run recreates, and return a sentence on each part."""
    with transaction(db):
        broken = differing(db, WHOLE)
        for table in broken:
            db.execute(f"DELETE FROM {table}")
        seal(db, *broken)
        results = set_damaged_aside(db)
        (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise sqlite3.DatabaseError("database disk image is malformed")
    parts = [f"{path} was damaged: the content of {listing(broken)} is written again."] if broken else []
    return [*parts, *remark_on_damage(results)]


def remark_on_damage(trials: Sequence[str]) -> list[str]:
    """Return a sentence for readers on trials with damaged results; empty if there are none."""
    if not trials:
        return []
    more = [f"{len(trials) - MOST_NAMED} more"] if len(trials) > MOST_NAMED else []
    names = "; ".join([*trials[:MOST_NAMED], *more])
    return [
        f"The results of {counted(len(trials), 'trial')} are damaged and count as not run ({names}); "
        "the command of the run computes them again."
    ]


REMNANT = ".remnant-"
"""Prefix of folders that exist while a process holds the lock; without it, they were left by a killed process."""


@contextmanager
def locked(folder: Path, option: str = "--out") -> Iterator[None]:
    """Lock a run folder; the system releases the lock when the process ends, even if it crashes."""
    lock = filelock.FileLock(folder / ".lock", timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise RunError(
            f"another mfbench is running in {folder}; wait for it to finish, or choose another folder with {option}"
        ) from None
    except OSError as error:
        raise RunError(
            f"cannot write to {folder}: {error.strerror or error}; choose another folder with {option}"
        ) from error
    try:
        for remnant in folder.glob(f"{REMNANT}*"):
            shutil.rmtree(remnant, ignore_errors=True)
        yield
    finally:
        lock.release()


ASIDE = ".earlier"
"""The folder for earlier results within the run folder, until they are deleted."""
# The files of a run. The store is first in the list, because its location shows whether all others are in the same
# folder.
_FILES = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", "environment.json", "workers.log")


@contextmanager
def set_aside(folder: Path, is_fresh: bool) -> Iterator[Callable[[], None]]:
    """Set the files of a run aside; they are restored unless discarded before the block ends."""
    # So a run that cannot start, for instance because a scheduler does not respond, costs no results. Files that a
    # killed process has set aside are restored first.
    aside = folder / ASIDE
    _bring_back(folder)
    if is_fresh and (folder / FILE_NAME).exists():
        aside.mkdir()
        _move(reversed(_FILES), folder, aside)
    try:
        yield lambda: _discard(folder)
    finally:
        _bring_back(folder)


def _discard(folder: Path) -> None:
    if (folder / ASIDE).is_dir():
        discarded = folder / f"{REMNANT}earlier"
        (folder / ASIDE).rename(discarded)  # atomically: a partial set must not be restored
        shutil.rmtree(discarded, ignore_errors=True)


def _bring_back(folder: Path) -> None:
    aside = folder / ASIDE
    if (aside / FILE_NAME).exists():  # it was set aside last, so the files in the run folder are new
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
    if aside.is_dir():
        _move(_FILES, aside, folder)
        aside.rmdir()


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    for name in names:
        if (source / name).exists():
            (source / name).replace(target / name)
