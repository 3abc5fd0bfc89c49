"""The lock of a run folder: one process at a time writes to a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from mfbench.errors import RunError

REMNANT = ".remnant-"
"""Begins the names of folders that exist while a process with the lock works; others are what a killed one left."""


@contextmanager
def locked(folder: Path, option: str = "--out") -> Iterator[None]:
    """Lock a run folder; the system releases the lock when the process ends, even if it crashes."""
    lock = filelock.FileLock(folder / ".lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
