"""What a method does to the world outside its process while it is fitted: sockets, and files in two folders."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mfbench.processes.temporary import temporary_folder

_HOME = ("HOME", "USERPROFILE")
_FAMILIES = (2, 10, 23, 30)  # AF_INET, and AF_INET6 of Linux, Windows and macOS; others do not leave the machine
_NAME_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


class _Recorder:
    """An audit hook, which a process cannot remove: it does nothing while no file takes its records."""

    def __init__(self) -> None:
        self.descriptor = -1
        self.is_installed = False

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.descriptor < 0 or not event.startswith("socket."):
            return
        if event in _NAME_LOOKUPS or (event == "socket.__new__" and args[1] in _FAMILIES):
            # To a file, not a list: children that the method forks share it.
            os.write(self.descriptor, event.encode() + b"\n")


_RECORDER = _Recorder()


@contextmanager
def recorded_sockets() -> Iterator[list[str]]:
    """Record sockets and look-ups of names in this process and those it forks."""
    if not _RECORDER.is_installed:
        sys.addaudithook(_RECORDER)
        _RECORDER.is_installed = True
    events: list[str] = []
    with tempfile.TemporaryFile() as file:
        _RECORDER.descriptor = file.fileno()
        try:
            yield events
        finally:
            _RECORDER.descriptor = -1
            file.seek(0)
            events += file.read().decode().splitlines()


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Let the home folder be an empty temporary one."""
    before = {name: os.environ.get(name) for name in _HOME}
    with temporary_folder("check") as folder:
        os.environ.update(dict.fromkeys(_HOME, str(folder)))
        try:
            yield folder
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


@contextmanager
def temporary_working_directory() -> Iterator[Path]:
    """Let the working directory be an empty temporary one."""
    before = Path.cwd()
    with temporary_folder("check") as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def files_in(folder: Path) -> list[str]:
    """Return the relative paths of the files in a folder, except what compilers cache beside modules."""
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if not path.is_dir())
    return [path.as_posix() for path in paths if "__pycache__" not in path.parts]
