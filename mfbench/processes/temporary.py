"""Temporary folders that a later start removes if the process that made them was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

_PREFIX = "mfbench-"
_LOCK = "owner.lock"
_CONTENT = "content"


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield an empty folder that is removed afterwards; folders of processes that were killed are removed as well."""
    remove_left_behind()
    outer, lock = _new(purpose)
    try:
        yield outer / _CONTENT
    finally:
        shutil.rmtree(outer / _CONTENT, ignore_errors=True)
        lock.release()
        shutil.rmtree(outer, ignore_errors=True)


def _new(purpose: str) -> tuple[Path, filelock.BaseFileLock]:
    while True:
        outer = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
        lock = filelock.FileLock(outer / _LOCK, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout:  # another process has just locked it, to remove it
            continue
        except (OSError, NotImplementedError):
            # Without locks, a later start cannot tell that the owner was killed: the folder then stays.
            (outer / _LOCK).unlink(missing_ok=True)
        try:
            (outer / _CONTENT).mkdir()
        except FileNotFoundError:  # the other process has removed it since
            lock.release()
            continue
        return outer, lock


def remove_left_behind() -> None:
    """Remove the temporary folders of this user whose processes are gone."""
    # The system releases the lock of a process that ends, so neither a process of another container nor one whose
    # number is in use again is mistaken. Folders without a lock, and those of other users, stay as they are.
    with suppress(OSError):  # a folder that cannot be listed must not stop a run
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
            # Its owner may be alive, or have just removed it; and where files cannot be locked, that is unknown.
            with suppress(OSError, NotImplementedError):
                _remove_if_free(path)


def _remove_if_free(path: Path) -> None:
    """Remove the folder of a lock file of this user; raise an exception if its owner is alive."""
    folder = path.parent
    if not folder.is_symlink() and (not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()):
        with filelock.FileLock(path, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)  # an open file keeps its folder on some systems
