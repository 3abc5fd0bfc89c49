"""Other zip files, and those that were made to harm whoever reads them: one sentence, and nothing is unpacked."""

import errno
import os
import stat
import struct
import tempfile
import zipfile
import zlib

import pytest
from forgery import members_of, sealed, write_zip

from mfbench.errors import ExitCode, UsageError
from mfbench_claims import archive as module
from mfbench_claims.reading import opened_bundles


def refusal(path):
    with pytest.raises(UsageError) as caught, opened_bundles([path]):
        pass
    message = str(caught.value)
    assert message.startswith(f"{path} is refused as a bundle: ") and "\n" not in message
    assert caught.value.exit_code == ExitCode.USAGE
    return message


@pytest.fixture
def members(small_claim):
    return members_of(small_claim)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which everything temporary is made; nothing is left in it but the bundle."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_members_that_no_bundle_has(subtests, members, folder):
    for name in [
        "../evil",
        "/etc/evil",
        "a/../../evil",
        "C:\\evil",
        "nested.zip",
        "manifest.json/",
        "x" * 60_000,
        "e\x1bvil",
    ]:
        with subtests.test(name=name):
            message = refusal(write_zip({**members, name: b"evil"}, folder / "claim.zip"))
            assert ("not those of a bundle" in message or "list of members" in message) and len(message) < 450
            assert message.isprintable()
            assert [path.name for path in folder.iterdir()] == ["claim.zip"]


def test_another_member_in_place_of_one(members, folder):
    del members["plan.jsonl"]
    expected = "its members are not those of a bundle: "
    assert expected + "../evil" in refusal(write_zip({**members, "../evil": b"evil"}, folder / "claim.zip"))
    assert expected in refusal(write_zip(members, folder / "claim.zip"))
    members["plan.jsonl/"] = b""
    assert expected in refusal(write_zip(members, folder / "claim.zip"))


def test_a_member_twice(members, folder):
    del members["plan.jsonl"]
    path = write_zip(members, folder / "claim.zip")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("trials.jsonl", b"")
    assert "trials.jsonl, trials.jsonl" in refusal(path)


def test_links_and_encryption_and_other_compressions(members, folder):
    path = folder / "claim.zip"
    for change in (
        {"external_attr": (stat.S_IFLNK | 0o777) << 16},
        {"external_attr": stat.S_IFIFO << 16},
        {"compress_type": zipfile.ZIP_BZIP2},
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                about = zipfile.ZipInfo(name)
                for attribute, value in change.items() if name == "plan.jsonl" else ():
                    setattr(about, attribute, value)
                archive.writestr(about, content)
        assert "plan.jsonl is encrypted, a link, or compressed in another way" in refusal(path)
    write_zip(members, path)
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\x01\x02")  # the entry of the last member in the list of members
    content[place + 8] |= 1
    path.write_bytes(content)
    assert "is encrypted" in refusal(path)


def test_what_is_no_zip_file(folder, members):
    path = folder / "claim.zip"
    for content in (b"", b"PK", b"text" * 100, b"SQLite format 3\0" + bytes(4096)):
        path.write_bytes(content)
        assert "not a zip file" in refusal(path)
    assert "No such file" in refusal(folder / "missing.zip")
    assert "it is not a file" in refusal(folder)
    whole = write_zip(members, path).read_bytes()
    path.write_bytes(whole + b"more")
    assert "something was added" in refusal(path)
    path.write_bytes(whole[:-1])
    assert "its end is missing" in refusal(path)


def test_a_pipe_is_refused_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    assert "it is not a file" in refusal(folder / "pipe")


def test_a_list_of_millions_of_members_is_not_read(folder, members, monkeypatch):
    path = write_zip(members, folder / "claim.zip")
    content = bytearray(path.read_bytes())
    end = len(content) - 22
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the list of members was read"))
    changed = bytearray(content)
    struct.pack_into("<L", changed, end + 12, 2**31)
    path.write_bytes(changed)
    assert "its list of members is longer than that of a bundle" in refusal(path)
    path.write_bytes(content[:end] + b"PK\x06\x07" + bytes(16) + content[end:])
    assert "its list of members is longer than that of a bundle" in refusal(path)


def test_bombs(folder, members, monkeypatch):
    path = folder / "claim.zip"
    monkeypatch.setattr(module, "LARGEST_CONTENT", 2**20)
    members["trials.jsonl"] = b" " * 2**21
    assert "larger than" in refusal(write_zip(sealed(members), path))
    # The list of members may state less than what a member really has.
    content = path.read_bytes()
    true, stated = struct.pack("<L", 2**21), struct.pack("<L", 100)
    path.write_bytes(content.replace(true, stated))
    assert "trials.jsonl" in refusal(path)
    monkeypatch.undo()
    monkeypatch.setattr(module, "LARGEST_LINE", 1000)
    assert "a line of its member" in refusal(write_zip(sealed(members), path))
    monkeypatch.setattr(module, "LARGEST_DOCUMENT", 100)
    assert "manifest.json is larger than" in refusal(write_zip(members, path))
    monkeypatch.setattr(module, "LARGEST_FILE", 100)
    assert "it is larger than" in refusal(path)


def test_damaged_checksums(folder, members):
    path = folder / "claim.zip"
    members["plan.jsonl"] = members["plan.jsonl"].replace(b'"A"', b' "A"', 1)
    assert "plan.jsonl differs from the checksum in its manifest" in refusal(write_zip(members, path))
    content = path.read_bytes()
    packed = zlib.compress(members["metadata.json"])[2:40]
    place = content.index(packed[:20])
    path.write_bytes(content[:place] + bytes(30) + content[place + 30 :])
    assert "metadata.json is damaged" in refusal(path)


def test_memory_that_is_not_there_is_a_refusal(small_claim):
    with (
        pytest.raises(UsageError, match="is refused as a bundle: it needs more memory than there is"),
        module.opened_archive(small_claim),
    ):
        raise MemoryError


def test_an_error_of_the_disk_is_not_called_damage(folder, members, monkeypatch):
    path = write_zip(members, folder / "claim.zip")

    def fails(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(zipfile.ZipExtFile, "readline", fails)
    assert refusal(path).endswith("it cannot be read (Input/output error)")
