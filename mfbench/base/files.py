"""Files that appear completely or not at all."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from mfbench.errors import MfbenchError, explained

_SUFFIX = ".part"
_OURS = f".*.{'[0-9a-f]' * 12}{_SUFFIX}"
_ABANDONED = 3600  # seconds since the last write, after which a process that wrote the file is taken to be gone


def write_whole(path: Path, data: bytes, *, on_disk: bool = False) -> None:
    """Write a file completely or not at all; its folder is created if needed."""
    # A reader never sees half of it, and a process that is killed leaves the earlier file as it was. What it had
    # written of the new one is removed by the first call for the same folder that is an hour later.
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    # The name is cut: with what is added, the longest name that the caller may use must still be one.
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
    if on_disk and os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left; a file that was written lately may belong to a process at work."""
    for part in folder.glob(_OURS):
        with suppress(OSError):  # another process removes it now, or it belongs to somebody else
            if part.stat().st_mtime < time.time() - _ABANDONED:
                part.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a file at once, so that a reader never sees half of it; its folder is created if needed."""
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        write_whole(path, text.encode("utf-8"))
