"""The processes below this one, in a process of its own."""

import os
import subprocess
import sys

import pytest

from mfbench.processes import process as tree
from mfbench.processes.process import memory_of, own_memory

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a process adopt orphans")


@LINUX
def test_orphans_in_other_sessions_are_ended():
    code = """
import os, signal, subprocess, sys, time
from mfbench.processes.process import adopt_orphans
from mfbench.processes.process import descendants, end_descendants, has_children
adopt_orphans()
assert not has_children()
# A shell that leaves a process in a session of its own behind, and ends.
subprocess.run(["sh", "-c", "setsid sleep 1000 & exit 0"])
while not has_children():
    time.sleep(0.01)
assert len(descendants()) == 1
end_descendants(signal.SIGKILL)
assert not has_children() and not descendants()
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "fine\n", done.stderr


@LINUX
def test_memory_is_counted_without_files():
    assert 2**20 < own_memory(os.getpid()) < 2**36
    assert own_memory(2**22 + 1) == 0, "no such process"
    assert memory_of([os.getpid()], 0) > 2**20


@LINUX
def test_shared_pages_count_once_if_that_decides():
    code = """
import os, signal, sys
from mfbench.processes.process import memory_of
block = b"x" * 200_000_000
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    children.append(pid)
pids = [os.getpid(), *children]
print(memory_of(pids, 10**12) > 700_000_000, memory_of(pids, 300_000_000) < 300_000_000)
for pid in children:
    os.kill(pid, signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "True True\n", done.stderr


def test_a_system_that_does_not_list_memory_counts_the_resident_part(monkeypatch, tmp_path):
    monkeypatch.setattr(tree, "_PROC", tmp_path / "none")
    before = own_memory(os.getpid())
    held = bytearray(b"x" * 50_000_000)
    assert own_memory(os.getpid()) - before >= 40_000_000
    assert memory_of([os.getpid()], 0) >= len(held)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert own_memory(process.pid) == 0
