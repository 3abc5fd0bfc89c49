"""Files of a report: a reader sees all of a file or none of it, and an error is one sentence."""

import os
from pathlib import Path

import pytest

from mfbench.base.files import write_text
from mfbench.errors import MfbenchError


def test_a_file_is_written_with_its_folder(tmp_path):
    path = tmp_path / "new" / "folder" / "page.html"
    write_text(path, "ä\n≈")
    assert path.read_bytes() == "ä\n≈".encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "long " * 1000)
    with path.open(encoding="utf-8") as reader:
        start = reader.read(5)
        write_text(path, "short")
        assert start + reader.read() == "long " * 1000
    assert path.read_text() == "short"


def test_a_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_and_no_part(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def fill(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fill)
    with pytest.raises(MfbenchError, match=r"^cannot write .*page\.html: No space left on device$"):
        write_text(path, "new text")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_place_of_the_file_is_an_error_without_a_part(tmp_path):
    path = tmp_path / "page.html"
    path.mkdir()
    with pytest.raises(MfbenchError, match=r"^cannot write .*page\.html: "):
        write_text(path, "text")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(MfbenchError, match=r"^cannot write .*page\.html: "):
        write_text(tmp_path / "folder" / "page.html", "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_folder_that_is_read_only_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(MfbenchError, match="Permission denied"):
        write_text(tmp_path / "page.html", "text")
