"""A machine's array cache: files named by their SHA-256 checksum, transferred once, verified, and limited in size.

All processes of a machine share the cache. Files that a running job maps into memory are leased: a file lock, released
by the system when the process ends, prevents other processes from removing them.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import filelock
import platformdirs

from mfbench.errors import MfbenchError, explained
from mfbench.run.workers.job import hash_of

if sys.platform != "win32":  # on Windows, open files cannot be removed anyway
    import fcntl

FOLDER_VARIABLE = "MFBENCH_ARRAY_CACHE"
LIMIT_VARIABLE = "MFBENCH_ARRAY_CACHE_GB"
LIMIT_GB = 4.0
_NAME = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PIECE = 16 * 2**20  # bytes copied at a time
_STALE = 86400.0  # seconds after which an unfinished file counts as abandoned


class ArrayCacheError(MfbenchError):
    """The cache is not writable; the message is a sentence."""


class Lease:
    """A cached file that cannot be removed until `close`."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("rb")
        try:
            if sys.platform != "win32":
                fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.utime(path)
        except OSError:
            self._file.close()
            raise

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class ArrayCache:
    """A folder of array files."""

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        default = os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_path("mfbench") / "arrays"
        self.folder = Path(folder or default)
        text = os.environ.get(LIMIT_VARIABLE, str(LIMIT_GB))
        with explained(ArrayCacheError, lambda _: f"{LIMIT_VARIABLE} is {text!r}, expected GiB", ValueError):
            self.limit = int(float(text) * 2**30) if limit is None else limit

    def identity(self) -> str:
        """Return an identifier of the cache that is unique across machines and shared by its processes."""
        path = self.folder / "identity"
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self.folder / "identity.lock"):
                if not path.is_file() or not path.read_text(encoding="ascii"):
                    path.write_text(secrets.token_hex(16), encoding="ascii")
                return path.read_text(encoding="ascii")

    def lease(self, name: str) -> Lease | None:
        """Return a lease of a file, or None if it is missing. A damaged file is removed."""
        path = self._path(name)
        try:
            lease = Lease(path)
            if hash_of(path) == name:
                return lease
            lease.close()
        except OSError:  # missing, or just being removed
            return None
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def fetch(self, name: str, shared: Path) -> Lease | None:
        """Return a lease of a file, copying it from a shared folder if it is missing."""
        # If several processes of a machine copy a file at the same time, they complete it together.
        if lease := self.lease(name):
            return lease
        received, is_complete = 0, False
        try:
            with (shared / self._path(name).name).open("rb") as source:
                total = os.fstat(source.fileno()).st_size
                while not is_complete:
                    source.seek(received)
                    piece = source.read(_PIECE)
                    received, is_complete = self.append(name, received, total, piece)
                    if not received or not piece:  # damaged, or truncated in the meantime
                        return None
        except OSError:  # missing, or the shared folder is unavailable
            return None
        return self.lease(name)

    def append(self, name: str, offset: int, total: int, data: bytes) -> tuple[int, bool]:
        """Append a piece to a file."""
        path, partial = self._path(name), self._path(name).with_suffix(".part")
        with self._locked(name), self._explained():
            if path.is_file():
                return total, True
            size = partial.stat().st_size if partial.is_file() else 0
            if size == 0:
                self._make_room(total)
            if offset == size:
                try:
                    with partial.open("ab") as file:
                        file.write(data)
                except OSError:
                    os.truncate(partial, size)  # a full disk may have stored part of it
                    raise
                size += len(data)
            if size < total:
                return size, False
            if size == total and hash_of(partial) == name:
                partial.replace(path)
                return size, True
            partial.unlink()
            return 0, False

    def _make_room(self, size: int) -> None:
        """Remove the least recently used files until a new one fits."""
        files = []
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):  # another process may be removing it
                state = path.stat()
                if _NAME.fullmatch(path.name):
                    files.append((state.st_mtime, state.st_size, path))
                elif _NAME.fullmatch(path.stem) and path.suffix != ".lock" and time.time() - state.st_mtime > _STALE:
                    path.unlink()
        total = size + sum(size for _, size, _ in files)
        for _, own, path in sorted(files):
            if total <= self.limit:
                return
            total -= own if _remove(path) else 0

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):  # the name comes from a message
            raise ArrayCacheError(f"{name[:80]!r} is not the name of an array file")
        return self.folder / name

    def _locked(self, name: str) -> contextlib.AbstractContextManager[object]:
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            return filelock.FileLock(self._path(name).with_suffix(".lock")).acquire()

    def _explained(self) -> contextlib.AbstractContextManager[None]:
        sentence: Callable[[str], str] = lambda reason: (  # noqa: E731
            f"arrays cannot be stored in {self.folder}: {reason}; free some space or set {FOLDER_VARIABLE} to another "
            "folder"
        )
        return explained(ArrayCacheError, sentence, OSError)


def _remove(path: Path) -> bool:
    """Remove a file unless it is leased; return whether it is gone."""
    try:
        with path.open("r+b") as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        if sys.platform == "win32":
            path.unlink()
    except OSError:
        return False
    return True
