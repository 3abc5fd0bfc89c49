"""The tables of a run as Parquet files, or in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.files import write_whole
from mfbench.base.text import counted
from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.processes.temporary import temporary_folder
from mfbench.stats.results import Run


def tables_of(run: Run) -> dict[str, pd.DataFrame]:
    """Return the tables of a run by name; those without rows are left out."""
    record = {
        "suite": run.meta.name,
        "profile": run.meta.profile,
        "title": run.meta.title,
        "seed": run.meta.seed,
        "protocol": run.protocol.description,
        **{name: getattr(run.meta.environment, name) for name in ("mfbench", "python", "cpu", "date", "libraries")},
    }
    names = run.meta.display_names
    methods = [{"method": label, "name": names[label], "description": text} for label, text in run.methods.items()]
    tables = {
        "run": pd.DataFrame([record]),
        "methods": pd.DataFrame(methods),
        "datasets": run.datasets,
        "trials": run.trials,
        "scores": run.scores,
        "comparisons": run.wins_ties_losses() if run.protocol.compares and len(run.methods) > 1 else pd.DataFrame(),
        "curves": run.curves,
        "interactions": run.interactions,
        "detection": run.detection if run.detects else pd.DataFrame(),
    }
    return {name: table.map(_without_mapping) for name, table in tables.items() if len(table)}


def _without_mapping(value: Any) -> Any:
    """Return a mapping, whose keys differ between rows, as JSON; anything else as it is."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def _scalar(value: Any) -> Any:
    """Return an array as JSON; anything else as it is."""
    return json.dumps(np.asarray(value).tolist()) if isinstance(value, (np.ndarray, list, tuple)) else value


def write_parquet(run: Run, folder: Path) -> Iterator[str]:
    """Write a folder with one file per table; yield a line about each."""
    if folder.is_file():
        raise UsageError(f"{folder} is a file: name a folder for the Parquet files")
    for name, table in tables_of(run).items():
        path = folder / f"{name}.parquet"
        with _explained(path):
            write_whole(path, table.to_parquet(index=False))
        yield _line(path, table)


def write_sqlite(run: Run, path: Path) -> Iterator[str]:
    """Write one database; arrays and mappings are JSON, for SQLite's own functions. Yield a line about each table."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file for the database, such as run.sqlite")
    tables = tables_of(run)
    with temporary_folder("export") as folder, _explained(path):
        file = folder / "run.sqlite"
        with closing(sqlite3.connect(file)) as db:
            for name, table in tables.items():
                table.map(_scalar).to_sql(name, db, index=False)
        write_whole(path, file.read_bytes())
    for name, table in tables.items():
        yield _line(path, table, f", table {name}")


def _line(path: Path, table: pd.DataFrame, of: str = "") -> str:
    return f"Wrote {path}{of}: {counted(len(table), 'row')}."


def _explained(path: Path) -> AbstractContextManager[None]:
    """Return a context that turns errors of writing into a sentence."""
    return explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError, sqlite3.Error)
