"""A log of limited size: what a process prints beyond the limits is dropped, and a note says so."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

# Per section, which for a worker is a trial; and for the whole file, which all workers of a run share.
SECTION_LIMIT = 10**6
FILE_LIMIT = 50 * 10**6


def make_room(path: Path, file_limit: int = FILE_LIMIT) -> None:
    """Empty a log that is full."""
    with contextlib.suppress(OSError):  # there is none, or it cannot be written to
        if path.stat().st_size + SECTION_LIMIT > file_limit:
            os.truncate(path, 0)


class CappedLog:
    """Appends to a file up to the limits."""

    def __init__(self, path: str, section_limit: int = SECTION_LIMIT, file_limit: int = FILE_LIMIT) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._file = os.open(path, flags, 0o644)
        except OSError:
            self._file = os.open(os.devnull, flags)
        self._is_file = stat.S_ISREG(os.fstat(self._file).st_mode)
        self._section_limit, self._file_limit = section_limit, file_limit
        self._section, self._written = -1, 0
        self._is_full = False

    def write(self, data: bytes, section: int) -> None:
        """Append what was printed in a section, as far as there is room."""
        if section != self._section:
            self._section, self._written = section, 0
        if self._is_full:
            return
        kept = data[: max(0, self._section_limit - self._written)]
        if len(kept) < len(data) and self._written <= self._section_limit:
            self._written = self._section_limit + 1  # the note is written once
            kept += _note(f"this trial's output beyond {self._section_limit:,} bytes")
        self._written += len(kept)
        if self._is_file and os.fstat(self._file).st_size + len(kept) > self._file_limit:
            kept = _note(f"output beyond {self._file_limit:,} bytes in all")
            self._is_full = True
        self._append(kept)

    def _append(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:  # the disk is full; the store says so
            self._is_full = True

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _note(what: str) -> bytes:
    return f"\n[mfbench dropped {what}]\n".encode()
