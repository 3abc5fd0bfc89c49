"""Atomic file writes."""

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from mfbench.errors import MfbenchError, explained

_SUFFIX = ".part"
_OURS = f".*.{'[0-9a-f]' * 12}{_SUFFIX}"
_ABANDONED = 3600  # seconds since the last write; after that, the writing process is assumed dead


def write_whole(path: Path, data: bytes, *, on_disk: bool = False) -> None:
    """Write a file atomically; create its folder if needed."""
    # A reader never sees a partial file, and a killed process leaves the old version intact. Its partial file is
    # removed by the first call for the same folder an hour or more later.
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    # Truncated, so that a name of maximum length still leaves room for the token and the suffix.
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}{_SUFFIX}")
    try:
        with part.open("xb") as file:
            file.write(data)
            if on_disk:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if on_disk and os.name == "posix":  # folders can be opened on POSIX only
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _remove_abandoned(folder: Path) -> None:
    """Remove files left by killed processes, except recent ones, whose process may still be writing."""
    for part in folder.glob(_OURS):
        with suppress(OSError):  # another process is removing it, or it belongs to another user
            if part.stat().st_mtime < time.time() - _ABANDONED:
                part.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically; create its folder if needed."""
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        write_whole(path, text.encode("utf-8"))
