"""The zip file of a bundle, whoever made it: nothing is unpacked to a path, and no member is read beyond its limits."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mfbench.base.untrusted import plain_text
from mfbench.errors import UsageError
from mfbench_claims.form import (
    LARGEST_CONTENT,
    LARGEST_DOCUMENT,
    LARGEST_FILE,
    LARGEST_LINE,
    MANIFEST,
    MEMBERS,
    Member,
)

_END = struct.Struct("<4s4H2LH")
"""The record at the end of a zip file."""
_HEADER = struct.Struct("<4s2xH18x2H")
"""The header of a member: of its fields, the signature, the flags, and the lengths of the name and the extra field."""
_DESCRIPTOR = 0x8
"""The flag of a member whose sizes come after it: a bundle is written to a file, where they can come before."""
_SIGNATURE, _SIGNATURE_64 = b"PK\x05\x06", b"PK\x06\x07"
_LOCATOR_64 = 20
_LARGEST_DIRECTORY = 2**16
_AT_ONCE = 2**20
_ENCRYPTED = 0x1
# What zipfile and zlib raise on damaged or crafted content: NotImplementedError for a newer version of the format,
# RuntimeError for a member whose own header says it is encrypted, ValueError for an offset before the file.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


REFUSED = " is refused as a bundle: "
"""What stands between the name of a file and the reason."""


class RefusedError(Exception):
    """Why a file is not accepted as a bundle: the end of a sentence."""


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn whatever a crafted or damaged file causes into one sentence."""
    try:
        yield
    except RefusedError as refusal:
        raise UsageError(f"{path}{REFUSED}{refusal}") from None
    except MemoryError:
        raise UsageError(f"{path}{REFUSED}it needs more memory than there is") from None


class Archive:
    """A zip file whose list of members is that of a bundle."""

    def __init__(self, path: Path) -> None:
        self._remaining = LARGEST_CONTENT
        try:
            about = path.stat()
            if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
                raise RefusedError("it is a pipe or a device; save its content as a file first")
            if about.st_size > LARGEST_FILE:
                raise RefusedError(f"it is larger than {LARGEST_FILE // 2**30} GiB")
            self._file = path.open("rb")
        except OSError as error:
            raise RefusedError(f"it cannot be read ({error.strerror})") from None
        try:
            with _intact():
                self._directory = _check_end(self._file)
                self._zip = zipfile.ZipFile(self._file)
            self._members = {about.filename: about for about in self._zip.infolist()}
            self._check_members(self._zip.infolist())
        except RefusedError:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def sha256(self) -> str:
        """The hash of the whole file."""
        with _intact():
            self._file.seek(0)
            return hashlib.file_digest(self._file, "sha256").hexdigest()

    def _check_members(self, members: list[zipfile.ZipInfo]) -> None:
        names = [about.filename for about in members]
        for about in members:
            name = plain_text(about.filename, 80)
            mode = about.external_attr >> 16
            if about.filename not in MEMBERS:
                raise RefusedError(f"it has a member {name!r}, which no bundle has")
            if names.count(about.filename) > 1:
                raise RefusedError(f"it has {name} twice")
            if about.flag_bits & _ENCRYPTED:
                raise RefusedError(f"its member {name} is encrypted")
            if stat.S_ISLNK(mode) or about.is_dir() or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
                raise RefusedError(f"its member {name} is not a plain file")
            if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise RefusedError(f"its member {name} is compressed in a way that no bundle uses")
        if missing := [name for name in MEMBERS if name not in names]:
            raise RefusedError(f"its member {missing[0]} is missing")
        if min(about.header_offset for about in members) != 0:
            raise RefusedError("something is before its first member")
        # Each member has a header of its own, as long as its name and extra field say, and ends where the next begins.
        ordered = sorted(members, key=lambda about: about.header_offset)
        ends = [*(about.header_offset for about in ordered[1:]), self._directory]
        for about, end in zip(ordered, ends, strict=True):
            if self._end_of(about) != end:
                raise RefusedError(f"something is after its member {about.filename}, or inside another member")
        if sum(about.file_size for about in members) > LARGEST_CONTENT:
            raise RefusedError(f"its content is larger than {LARGEST_CONTENT // 2**30} GiB")

    def _end_of(self, about: zipfile.ZipInfo) -> int:
        with _intact():
            self._file.seek(about.header_offset)
            header = self._file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return -1
        signature, flags, name_length, extra_length = _HEADER.unpack(header)
        if signature != b"PK\x03\x04" or flags & _DESCRIPTOR:
            return -1
        return int(about.header_offset + _HEADER.size + name_length + extra_length + about.compress_size)

    def document(self, name: str, expected: Member | None = None) -> bytes:
        """Return the bytes of a member that is one JSON document."""
        with self._opened(name) as member:
            content = self._read(member, LARGEST_DOCUMENT + 1, name)
        if len(content) > LARGEST_DOCUMENT:
            raise RefusedError(f"its member {name} is larger than {LARGEST_DOCUMENT // 2**20} MiB")
        if name != MANIFEST:
            _check_digest(name, hashlib.sha256(content).hexdigest(), len(content), expected)
        return content

    def lines(self, name: str, expected: Member | None) -> Iterator[bytes]:
        """Yield the lines of a member; the last step compares all of it with the manifest."""
        digest, size, rows = hashlib.sha256(), 0, 0
        with self._opened(name) as member:
            while True:
                with _intact(name):
                    line = member.readline(LARGEST_LINE + 1)
                if not line:
                    break
                if len(line) > LARGEST_LINE:
                    raise RefusedError(f"a line of its member {name} is longer than {LARGEST_LINE // 2**20} MiB")
                self._count(len(line))
                digest.update(line)
                size += len(line)
                rows += 1
                yield line
        _check_digest(name, digest.hexdigest(), size, expected)
        if expected is not None and expected.rows != rows:
            raise RefusedError(f"its member {name} has {rows:,} rows, but its manifest says {expected.rows:,}")

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        with _intact(name):
            member = self._zip.open(self._members[name])
        try:
            yield member
        finally:
            member.close()

    def _read(self, member: IO[bytes], limit: int, name: str) -> bytes:
        parts, size = [], 0
        while size < limit:
            with _intact(name):
                part = member.read(min(_AT_ONCE, limit - size))
            if not part:
                break
            parts.append(part)
            size += len(part)
        self._count(size)
        return b"".join(parts)

    def _count(self, size: int) -> None:
        self._remaining -= size
        if self._remaining < 0:
            raise RefusedError(f"its content is larger than {LARGEST_CONTENT // 2**30} GiB")


@contextmanager
def _intact(name: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RefusedError(f"it cannot be read ({error.strerror or error})") from None
    except _BROKEN:
        raise RefusedError(f"its member {name} is damaged" if name else "it is not a zip file, or is damaged") from None


def _check_digest(name: str, sha256: str, size: int, expected: Member | None) -> None:
    if expected is None:
        raise RefusedError(f"its manifest does not list {name}")
    if (sha256, size) != (expected.sha256, expected.size):
        raise RefusedError(f"the content of its member {name} differs from the checksum in its manifest")


def _check_end(file: IO[bytes]) -> int:
    """Check the record at the end before anything is made of the list of members, which may be gigabytes long."""
    # Returns where that list begins.
    size = file.seek(0, 2)
    place = size - _END.size
    if place < 0:
        raise RefusedError("it is not a zip file")
    start = max(0, place - _LOCATOR_64)
    file.seek(start)
    tail = file.read()
    signature, _, _, _, entries, length, begin, comment = _END.unpack(tail[-_END.size :])
    if signature != _SIGNATURE or comment:
        raise RefusedError("it is not a zip file, its end is missing, or something was added to it")
    if tail.startswith(_SIGNATURE_64) or entries > len(MEMBERS) or length > _LARGEST_DIRECTORY:
        raise RefusedError(f"it does not have the {len(MEMBERS)} members of a bundle")
    if begin + length != place:
        raise RefusedError("something is before its first member, or between its members and its end")
    file.seek(0)
    return int(begin)
