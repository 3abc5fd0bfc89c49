"""Errors of the file system during a run, blamed on the folder that they are about: that of the run, or another."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mfbench.errors import RunError

_FULL = (errno.ENOSPC, errno.EDQUOT)
# What a file system that is full may still report as free, such as blocks reserved for its journal.
_NEXT_TO_NOTHING = 64 * 1024


@contextmanager
def file_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the operating system during a run into one sentence that names the right folder."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        other = _other_file(error, folder)
        if other is not None:
            raise RunError(f"cannot use {other}, which the run needs: {reason}") from error
        full = full_temporary_folder(folder) if error.errno in _FULL else None
        if full is not None:
            raise RunError(_temporary(full, reason)) from error
        if "temporary directory" in reason:  # the words of `tempfile`, which has a class of error in common with others
            raise RunError(f"{reason}; free some space there, or name another folder in TMPDIR") from error
        raise RunError(
            f"cannot write all files of the run to {folder}: {reason}; free some space or choose another folder "
            "with --out"
        ) from error


def full_temporary_folder(folder: Path) -> Path | None:
    """Return the folder of temporary files if it is full while that of a run is not, and None otherwise."""
    if _is_full(folder):
        return None
    # SQLite and other libraries look at these; `tempfile` would pass over a folder that is full.
    names = [os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR", "TEMP", "TMP")]
    usual = [Path("/var/tmp"), Path("/tmp")]  # nosec B108  # where there is room is all that is asked
    places = [Path(name) for name in names if name] or usual
    return next((place for place in places if _is_full(place)), None)


def explain_full_store(folder: Path, text: str) -> str | None:
    """Return the sentence on a store that SQLite cannot write because temporary files have no room, None otherwise."""
    full = full_temporary_folder(folder)
    return None if full is None else _temporary(full, text)


def _temporary(place: Path, reason: str) -> str:
    return f"the folder of temporary files {place} is full ({reason}); free some space there, or set TMPDIR to another"


def _is_full(folder: Path) -> bool:
    return folder.is_dir() and shutil.disk_usage(folder).free < _NEXT_TO_NOTHING


def _other_file(error: OSError, folder: Path) -> Path | None:
    """Return the file that an error names if it belongs neither to the run nor to its lock."""
    if not isinstance(error.filename, str):
        return None
    file = Path(error.filename).resolve()
    return None if file.is_relative_to(folder.resolve()) or file.parent == folder.resolve().parent else file
