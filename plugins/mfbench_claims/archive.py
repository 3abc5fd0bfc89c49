"""Read the zip file of an untrusted bundle: nothing is extracted to disk, and no member is read beyond its limits."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from mfbench.base.text import plain_text
from mfbench.errors import UsageError
from mfbench_claims.form import CRATE, LARGEST_CONTENT, LARGEST_DOCUMENT, LARGEST_FILE, LARGEST_LINE, MEMBERS

REFUSED = " is refused as a bundle: "
"""The text between a file's name and the reason for its rejection."""
_END = struct.Struct("<4s8xL4xH")
"""The end-of-central-directory record of a zip file: signature, directory size, comment length."""
_LOCATOR, _LENGTH_OF_LOCATOR = b"PK\x06\x07", 20
"""The locator that precedes this record in files of more than 4 GiB."""
_LARGEST_DIRECTORY = 2**16
_ENCRYPTED = 0x1
# Errors of zipfile and zlib on damaged or malicious content: NotImplementedError for a newer format version,
# RuntimeError for a member whose own header claims encryption, ValueError for an offset before the file.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class RefusedBundleError(Exception):
    """The reason why a file is rejected as a bundle: the end of a sentence."""


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file after checking that its members are a bundle's."""
    try:
        with _intact("it is not a zip file, or is damaged"):
            _check_file(path)
            archive = zipfile.ZipFile(path)
        with archive:
            _check_members(archive.infolist())
            yield archive
    except RefusedBundleError as refusal:
        raise UsageError(f"{path}{REFUSED}{refusal}") from None
    except MemoryError:
        raise UsageError(f"{path}{REFUSED}it needs more memory than there is") from None


def _check_file(path: Path) -> None:
    """Check sizes before zipfile reads the member list, which may be gigabytes long."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise RefusedBundleError("it is not a file")
    if about.st_size > LARGEST_FILE:
        raise RefusedBundleError(f"it is larger than {LARGEST_FILE // 2**30} GiB")
    with path.open("rb") as file:
        file.seek(max(0, about.st_size - _END.size - _LENGTH_OF_LOCATOR))
        tail = file.read()
    if len(tail) < _END.size:
        raise RefusedBundleError("it is not a zip file")
    signature, length, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\x05\x06" or comment:
        raise RefusedBundleError("it is not a zip file, its end is missing, or something was added to it")
    if tail.startswith(_LOCATOR) or length > _LARGEST_DIRECTORY:
        raise RefusedBundleError("its list of members is longer than that of a bundle")


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """Check the names, kinds and sizes of the members."""
    names = sorted(member.filename for member in members)
    if names not in (sorted(MEMBERS), sorted([*MEMBERS, CRATE])):
        raise RefusedBundleError(f"its members are not those of a bundle: {plain_text(', '.join(names), 300)}")
    for member in members:
        is_plain = stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
        is_packed_as_usual = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if member.flag_bits & _ENCRYPTED or not (is_plain and is_packed_as_usual):
            raise RefusedBundleError(f"its member {member.filename} is encrypted, a link, or compressed in another way")
    # zipfile never reads more than this declared size, however much the content would unpack to.
    if sum(member.file_size for member in members) > LARGEST_CONTENT:
        raise RefusedBundleError(f"its content is larger than {LARGEST_CONTENT // 2**30} GiB")


def sha256_of(archive: zipfile.ZipFile, name: str) -> str:
    """Return the checksum of a member."""
    with _damage_of(name), archive.open(name) as member:
        return hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type]


def document(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member that is a single JSON document."""
    with _damage_of(name), archive.open(name) as member:
        content = member.read(LARGEST_DOCUMENT + 1)
    if len(content) > LARGEST_DOCUMENT:
        raise RefusedBundleError(f"its member {name} is larger than {LARGEST_DOCUMENT // 2**20} MiB")
    return content


def lines(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield the lines of a member."""
    with _damage_of(name), archive.open(name) as member:
        while line := member.readline(LARGEST_LINE + 1):
            if len(line) > LARGEST_LINE:
                raise RefusedBundleError(f"a line of its member {name} is longer than {LARGEST_LINE // 2**20} MiB")
            yield line


def _damage_of(name: str) -> AbstractContextManager[None]:
    """Return a context that rejects a damaged member."""
    return _intact(f"its member {name} is damaged")


@contextmanager
def _intact(otherwise: str) -> Iterator[None]:
    """Reject a file that cannot be read, or is not a valid zip file."""
    try:
        yield
    except OSError as error:
        raise RefusedBundleError(f"it cannot be read ({error.strerror or error})") from None
    except _BROKEN:
        raise RefusedBundleError(otherwise) from None
