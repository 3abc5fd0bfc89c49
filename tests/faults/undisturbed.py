"""What must be left after a fault and a resume: the results of an undisturbed run, every trial exactly once.

Both functions read the stores alone, so they judge a run whatever executed it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.formats import unpack_candidates

# What two runs of the same trial do not share: how long it took and what it took of the machine.
TIMES = frozenset(
    {
        "duration",
        "tune_wall",
        "peak_memory",
        "checksum",  # which covers the others
        *(f"{s}_{c}" for s in ("select", "fit", "predict") for c in ("wall", "cpu")),
    }
)
TABLES = {
    "plan": "position",
    "datasets": "label",
    "left_out": "dataset",
    "splits": "sha256, protocol, repeat, fold",
    "trials": "key",
}
METADATA = ("suite", "protocol", "protocol_key", "profile", "selection", "methods", "rules", "takes_numbers", "only")


def same_results(folder: Path, other: Path) -> None:
    """Compare all that two run folders store except times, bit for bit.

    Parameters
    ----------
    folder, other : Path
        Run folders of the same plan, each with a store.

    Raises
    ------
    AssertionError
        If anything differs; the message names the first rows and columns that do.
    """
    differences = []
    for table, order in TABLES.items():
        first, second = _rows(folder, table, order), _rows(other, table, order)
        if len(first) != len(second):
            differences.append(f"{table}: {len(first)} rows and {len(second)} rows")
        for one, two in zip(first, second, strict=False):
            columns = [name for name in {**one, **two} if one.get(name) != two.get(name)]
            if columns:
                place = next(iter(one.values()))
                shown = "; ".join(f"{name}: {one.get(name)!r} and {two.get(name)!r}" for name in columns)
                differences.append(f"{table} {place}: {shown}"[:500])
    first_meta, second_meta = _metadata(folder), _metadata(other)
    differences += [f"meta: {name}" for name in METADATA if first_meta.get(name) != second_meta.get(name)]
    assert not differences, f"{folder} and {other} differ:\n" + "\n".join(differences[:10])


def exactly_once(folder: Path) -> None:
    """Check that a run is complete: one row for each trial of its plan, no other row, and nothing left behind.

    Parameters
    ----------
    folder : Path
        A run folder.

    Raises
    ------
    AssertionError
        If a trial is missing or there are too many, the store is damaged, or working files remain.
    """
    planned = [row["key"] for row in _rows(folder, "plan", "position")]
    stored = [row["key"] for row in _rows(folder, "trials", "key")]
    assert planned, "nothing is planned"
    assert len(set(planned)) == len(planned), "a trial is planned twice"
    assert len(set(stored)) == len(stored), "a trial is stored twice"
    missing, others = set(planned) - set(stored), set(stored) - set(planned)
    assert not missing, f"{len(missing)} of {len(planned)} trials are missing"
    assert not others, f"{len(others)} stored trials are not planned"
    with closing(_open(folder)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    left = sorted(path.name for path in folder.iterdir() if path.name == ".work" or path.suffix == ".part")
    assert not left, f"files are left in {folder}: {left}"


def stored_trials(folder: Path) -> int:
    """Return how many results a run folder holds now, 0 if there is no store yet; the run may be in progress."""
    if not (folder / FILE_NAME).is_file():
        return 0
    try:
        with closing(_open(folder)) as db:
            return int(db.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are not there yet
        return 0


def _open(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE_NAME)


def _rows(folder: Path, table: str, order: str) -> list[dict[str, Any]]:
    with closing(_open(folder)) as db:
        cursor = db.execute(f"SELECT * FROM {table} ORDER BY {order}")
        names = [column[0] for column in cursor.description]
        return [
            {name: _comparable(name, value) for name, value in zip(names, row, strict=True) if name not in TIMES}
            for row in cursor
        ]


def _comparable(name: str, value: Any) -> Any:
    """Return a value that is equal for equal results: candidates carry times of their own."""
    if name != "candidates" or value is None:
        return value
    return [
        {field: _bits(getattr(candidate, field)) for field in candidate.__dataclass_fields__ if field not in TIMES}
        for candidate in unpack_candidates(value)
    ]


def _bits(value: Any) -> Any:
    if hasattr(value, "tobytes"):
        return (str(value.dtype), value.shape, value.tobytes())
    if hasattr(value, "__dataclass_fields__"):
        return {name: _bits(getattr(value, name)) for name in value.__dataclass_fields__}
    return repr(value) if isinstance(value, float | dict) else value


def _metadata(folder: Path) -> dict[str, str]:
    with closing(_open(folder)) as db:
        return dict(db.execute("SELECT name, value FROM meta"))
