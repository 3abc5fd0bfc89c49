"""The commit of the project in a folder and its time, read from Git's files: nothing runs that it could configure."""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mfbench.errors import UsageError
from mfbench.run.checkout import head_commit, is_mfbench, repository_of

_COMMITTER = re.compile(rb"^committer .*> (-?\d+) [+-]\d{4}$", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_COMMIT_TYPE = 1
_LARGEST = 1 << 20
"""Bytes of a commit that are read: its time is near its beginning."""


@dataclass(frozen=True)
class Commit:
    """A commit of the measured project."""

    name: str  # its hash
    # When it was committed, as ISO 8601 in UTC; None if Git stores that in a form that only Git can read.
    time: str | None


def project_commit(folder: Path, name: str | None = None, recorded: str | None = None) -> Commit:
    """Return the commit that a run has measured."""
    top = next((place for place in (folder, *folder.parents) if repository_of(place) is not None), None)
    if name is not None:
        if not _COMMIT.fullmatch(name.lower()):
            raise UsageError(f"--commit {name!r} is not the hash of a commit: 7 to 64 hexadecimal digits")
        return Commit(name.lower(), _time_in(top, name.lower()))
    if top is None:
        raise UsageError(f"{folder} is not in a Git repository; name the measured commit with --commit")
    commit = recorded if recorded and is_mfbench(top) else head_commit(top)
    if commit is None:
        raise UsageError(f"the Git repository in {top} has no commit that can be read; name it with --commit")
    return Commit(commit, _time_in(top, commit))


def _time_in(top: Path | None, commit: str) -> str | None:
    folders = None if top is None else repository_of(top)
    if folders is None:
        return None
    objects = folders[1] / "objects"
    try:
        content = _loose(objects, commit) or _packed(objects, commit)
    except (OSError, zlib.error, struct.error, IndexError, ValueError):
        return None  # the time only orders the entries, and there is another to order them by
    match = None if content is None else _COMMITTER.search(content)
    return None if match is None else datetime.fromtimestamp(int(match[1]), UTC).isoformat(timespec="seconds")


def _loose(objects: Path, commit: str) -> bytes | None:
    """Return a commit that is stored in a file of its own."""
    path = objects / commit[:2] / commit[2:]
    if not path.is_file():
        return None
    return zlib.decompressobj().decompress(path.read_bytes(), _LARGEST)


def _packed(objects: Path, commit: str) -> bytes | None:
    """Return a commit that is stored whole in a pack; one that is stored as a difference is left to Git."""
    if len(commit) not in (40, 64):
        return None
    key = bytes.fromhex(commit)
    for index in sorted((objects / "pack").glob("*.idx")):
        with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            offset = _offset(content, key)
        if offset is not None:
            return _object(index.with_suffix(".pack"), offset)
    return None


def _offset(index: mmap.mmap, key: bytes) -> int | None:
    """Return where an object begins in its pack, from an index of version 2: counts, names, checksums, offsets."""
    if index[:8] != b"\xfftOc\0\0\0\2":
        return None
    first = struct.unpack_from(">I", index, 8 + 4 * (key[0] - 1))[0] if key[0] else 0
    last, total = (struct.unpack_from(">I", index, 8 + 4 * byte)[0] for byte in (key[0], 255))
    names, width = 8 + 4 * 256, len(key)
    position = bisect_left(
        range(total), key, first, last, key=lambda k: index[names + width * k : names + width * (k + 1)]
    )
    if position == last or index[names + width * position : names + width * (position + 1)] != key:
        return None
    offsets = names + (width + 4) * total
    (offset,) = struct.unpack_from(">I", index, offsets + 4 * position)
    if offset & 0x80000000:  # beyond two gigabytes: a row of a second table
        (offset,) = struct.unpack_from(">Q", index, offsets + 4 * total + 8 * (offset & 0x7FFFFFFF))
    return int(offset)


def _object(pack: Path, offset: int) -> bytes | None:
    """Return the object that begins at an offset of a pack, if it is a commit that is stored whole."""
    with pack.open("rb") as file:
        file.seek(offset)
        content = file.read(_LARGEST)
    if content[0] >> 4 & 7 != _COMMIT_TYPE:
        return None
    start = 0
    while content[start] & 0x80:  # the size, seven bits a byte
        start += 1
    return zlib.decompressobj().decompress(content[start + 1 :], _LARGEST)
