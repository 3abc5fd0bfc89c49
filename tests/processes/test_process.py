"""Setting up a process, in a process of its own."""

import subprocess
import sys

import pytest

from mfbench.processes.process import describe_exit

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the data segment")


def run(code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )


def test_output_goes_to_a_file_and_there_is_no_input(tmp_path):
    code = """
import os, sys
from pathlib import Path
from mfbench.processes.process import redirect_to
redirect_to(Path(sys.argv[1]))
print("from Python", repr(sys.stdin.read()), flush=True)
os.system("echo from a child")
"""
    done = run(code, tmp_path / "log")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "log").read_text().split("\n") == ["from Python ''", "from a child", ""]
    assert run(code, tmp_path / "no" / "such" / "folder" / "log").returncode == 0


@LINUX
def test_an_allocation_beyond_the_limit_fails_and_the_limit_is_final():
    code = """
import resource
from mfbench.processes.process import limit_memory
limit_memory(2 * 2**30)
assert resource.getrlimit(resource.RLIMIT_DATA) == (2 * 2**30, 2 * 2**30)
try:
    bytearray(3 * 2**30)
except MemoryError:
    print("refused")
"""
    assert run(code).stdout == "refused\n"


def test_how_a_process_ended_is_told(subtests):
    for code, words in [(-11, "SIGSEGV"), (-9, "out of memory"), (0, "exit code 0"), (-250, "signal 250")]:
        with subtests.test(code=code, words=words):
            assert words in describe_exit(code)
