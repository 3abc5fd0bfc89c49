"""Starting a run over: its earlier results are deleted when new ones can be made, and not before."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.folder_lock import REMNANT

ASIDE = ".earlier"
"""The folder for earlier results, within the run folder, until they are deleted."""
# What a run writes. The store is first: it alone tells whether all of the others are in the same folder.
_FILES = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", "environment.json", "workers.log")


@contextmanager
def set_aside(folder: Path, is_fresh: bool) -> Iterator[Callable[[], None]]:
    """Set the files of a run aside; they come back unless they are discarded before the block ends."""
    # So a run that cannot start at all, for example because a scheduler does not answer, costs no result. Those that a
    # killed process has set aside come back first.
    aside = folder / ASIDE
    _bring_back(folder)
    if is_fresh and (folder / FILE_NAME).exists():
        aside.mkdir()
        _move(reversed(_FILES), folder, aside)
    try:
        yield lambda: _discard(folder)
    finally:
        _bring_back(folder)


def _discard(folder: Path) -> None:
    if (folder / ASIDE).is_dir():
        discarded = folder / f"{REMNANT}earlier"
        (folder / ASIDE).rename(discarded)  # at once: half of it must not come back
        shutil.rmtree(discarded, ignore_errors=True)


def _bring_back(folder: Path) -> None:
    aside = folder / ASIDE
    if (aside / FILE_NAME).exists():  # it was set aside last, so what is in the run folder is new
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
    if aside.is_dir():
        _move(_FILES, aside, folder)
        aside.rmdir()


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    for name in names:
        if (source / name).exists():
            (source / name).replace(target / name)
