"""The array cache of a machine: files named by the SHA-256 of their bytes, fetched once, verified, bounded in size.

All processes of a machine share it. A file that a running job maps into memory is leased: a lock on the file, which
the system releases when the process ends, keeps other processes from removing it.
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

if sys.platform != "win32":  # there, a file that is open cannot be removed anyway
    import fcntl

FOLDER_VARIABLE = "MFBENCH_ARRAY_CACHE"
LIMIT_VARIABLE = "MFBENCH_ARRAY_CACHE_GB"
LIMIT_GB = 4.0
_NAME = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PIECE = 16 * 2**20  # bytes that are copied at once
_STALE = 86400.0  # seconds after which an unfinished file was given up


class ArrayCacheError(MfbenchError):
    """The cache cannot be written to; the message is a sentence."""


class Lease:
    """A file of the cache that stays until `close`."""

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
        """Let the file go."""
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
        """Return a text that identifies the cache on every machine and in every process."""
        path = self.folder / "identity"
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self.folder / "identity.lock"):
                if not path.is_file() or not path.read_text(encoding="ascii"):
                    path.write_text(secrets.token_hex(16), encoding="ascii")
                return path.read_text(encoding="ascii")

    def lease(self, name: str) -> Lease | None:
        """Return a lease of a file; None if it is not there. A damaged file is removed."""
        path = self._path(name)
        try:
            lease = Lease(path)
            if hash_of(path) == name:
                return lease
            lease.close()
        except OSError:  # it is not there, or is being removed
            return None
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def fetch(self, name: str, shared: Path) -> Lease | None:
        """Return a lease of a file, which is copied from a shared folder if it is not there."""
        # Several processes of a machine that copy it at once complete one file together.
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
                    if not received or not piece:  # it is damaged, or was cut off meanwhile
                        return None
        except OSError:  # it is not there, or the shared folder goes away
            return None
        return self.lease(name)

    def append(self, name: str, offset: int, total: int, data: bytes) -> tuple[int, bool]:
        """Write a piece of a file."""
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
                    os.truncate(partial, size)  # a full disk may have taken a part
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
        """Remove the files that were not used for the longest time, until another one fits."""
        files = []
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):  # another process may remove it now
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
        if not _NAME.fullmatch(name):  # it comes from a message
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
    """Remove a file without a lease; return whether it is gone."""
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
