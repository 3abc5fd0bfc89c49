"""Starting a run over: its earlier results are deleted when new ones can be made, and not before."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mfbench.run.store.file import FILE_NAME

ASIDE = ".earlier"
"""The folder for earlier results, within the run folder, until they are deleted."""
_MOVING = ".earlier-moving"
_DISCARDED = ".earlier-discarded"
_SUFFIXES = (".json", ".md", ".html", ".log")


@contextmanager
def set_aside(folder: Path, is_fresh: bool) -> Iterator[Callable[[], None]]:
    """Set the results of a run aside; they come back unless they are discarded before the block ends."""
    # So a run that cannot start at all, for example because a scheduler does not answer, costs no result. Those that a
    # killed process has set aside come back first.
    _bring_back(folder)
    if is_fresh and _files(folder):
        _set_aside(folder)
    try:
        yield lambda: _discard(folder)
    finally:
        _bring_back(folder)


def _set_aside(folder: Path) -> None:
    moving = folder / _MOVING
    moving.mkdir(exist_ok=True)
    for path in _files(folder):
        path.replace(moving / path.name)
    moving.rename(folder / ASIDE)  # from now on, files in the run folder are new ones


def _discard(folder: Path) -> None:
    aside, discarded = folder / ASIDE, folder / _DISCARDED
    shutil.rmtree(discarded, ignore_errors=True)
    if aside.is_dir():
        aside.rename(discarded)  # at once: half of it must not come back
        shutil.rmtree(discarded, ignore_errors=True)


def _bring_back(folder: Path) -> None:
    aside, moving = folder / ASIDE, folder / _MOVING
    if aside.is_dir():
        for path in _files(folder):
            path.unlink()
        aside.rename(moving)
    if moving.is_dir():  # perhaps since a process was killed while it moved them, in either direction
        for path in _files(moving):
            path.replace(folder / path.name)
        shutil.rmtree(moving)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(FILE_NAME) or path.suffix in _SUFFIXES]
