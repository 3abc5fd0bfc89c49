"""Setting up a worker process, in a process of its own."""

import subprocess
import sys

import pytest

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the data segment")


def run(code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )


def test_output_goes_to_the_log(tmp_path):
    code = """
import os, sys
from pathlib import Path
from mfbench.run.process import redirect_output
redirect_output(Path(sys.argv[1]))
print("from Python", flush=True)
os.system("echo from a child")
"""
    done = run(code, tmp_path / "log")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "log").read_text().split("\n") == ["from Python", "from a child", ""]


def test_an_exit_with_code_0_is_a_failure_and_the_process_leaves_its_number(tmp_path):
    code = """
import os, sys
from pathlib import Path
from mfbench.run.process import set_up_process
set_up_process(Path(sys.argv[1]), None)
print(os.getpid(), os.environ["OMP_NUM_THREADS"], flush=True)
os._exit(0)
"""
    done = run(code, tmp_path)
    pid, threads = done.stdout.split()
    assert (done.returncode, threads) == (1, "1")
    assert (tmp_path / f"worker-{pid}").is_file()


@LINUX
def test_an_allocation_beyond_the_limit_fails():
    code = """
from mfbench.run.process import limit_memory
limit_memory(2 * 2**30)
try:
    bytearray(3 * 2**30)
except MemoryError:
    print("refused")
"""
    assert run(code).stdout == "refused\n"
