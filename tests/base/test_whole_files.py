"""Files that appear completely or not at all, and what a kill leaves of them."""

import os
import subprocess
import sys
import time

import pytest

from mfbench.base.files import write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=[False, True], ids=["quick", "on the disk"])
def on_disk(request):
    return request.param


def test_the_file_is_replaced_and_nothing_else_is_left(tmp_path, on_disk):
    path = tmp_path / "new" / "a.txt"
    for data in (b"one", b"two"):
        write_whole(path, data, on_disk=on_disk)
        assert path.read_bytes() == data
    assert names(path.parent) == ["a.txt"]


def test_permissions_are_those_of_any_new_file(tmp_path, on_disk):
    (tmp_path / "plain").write_bytes(b"")
    write_whole(tmp_path / "whole", b"", on_disk=on_disk)
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_longest_name_can_be_written(tmp_path):
    write_whole(tmp_path / ("n" * 255), b"text")
    assert names(tmp_path) == ["n" * 255]


def test_a_failure_keeps_the_earlier_file(tmp_path, on_disk, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"earlier")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"later", on_disk=on_disk)
    assert names(tmp_path) == ["a.txt"]
    assert path.read_bytes() == b"earlier"


OTHERS = (".other", ".my-download.iso.part", ".report.md.0123456789ab.part.gz", "a.txt.0123456789ab.part")
KILLED = """
import os
import sys
from pathlib import Path

from mfbench.base.files import write_whole

Path.replace = lambda *_: os.kill(os.getpid(), 9)
write_whole(Path(sys.argv[1]), b"half")
"""


@pytest.mark.skipif(os.name != "posix", reason="a process kills itself by a signal")
def test_what_a_kill_leaves_is_removed_an_hour_later(tmp_path):
    path = tmp_path / "a.txt"
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)]).returncode == -9
    (left,) = tmp_path.iterdir()
    for name in OTHERS:
        (tmp_path / name).write_text("not ours")
        os.utime(tmp_path / name, (0, 0))
    write_whole(path, b"whole")  # perhaps the other process still writes
    assert left.exists()
    earlier = time.time() - 3700
    os.utime(left, (earlier, earlier))
    write_whole(path, b"whole")
    assert names(tmp_path) == sorted([*OTHERS, "a.txt"])
