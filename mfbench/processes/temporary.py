"""Temporary folders, which the next start removes if their process was killed."""

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
    """Yield an empty folder and remove it afterwards, along with folders of killed processes."""
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
        except filelock.Timeout:  # another process has just locked it in order to remove it
            continue
        except (OSError, NotImplementedError):
            # Without locks, a later start cannot know that the owner was killed, so the folder stays.
            (outer / _LOCK).unlink(missing_ok=True)
        try:
            (outer / _CONTENT).mkdir()
        except FileNotFoundError:  # the other process has removed it
            lock.release()
            continue
        return outer, lock


def remove_left_behind() -> None:
    """Remove this user's temporary folders whose processes are gone."""
    # The kernel releases the lock of a process that exits, so neither processes in other containers nor reused process
    # ids cause a wrong removal. Folders without a lock or of other users stay.
    with suppress(OSError):  # a folder that cannot be listed must not stop a run
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
            # The owner may be running or have just removed it; without file locking there is no way to know.
            with suppress(OSError, NotImplementedError):
                _remove_if_free(path)


def _remove_if_free(path: Path) -> None:
    """Remove the folder of this user's lock file; raise an exception if its owner is running."""
    folder = path.parent
    if not folder.is_symlink() and (not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()):
        with filelock.FileLock(path, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)  # some systems keep a folder while a file in it is open
