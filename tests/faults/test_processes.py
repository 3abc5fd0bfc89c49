"""The tree of processes that faults are aimed at."""

import subprocess
import sys

import pytest

from processes import below, processes_of, wait_for

CHAIN = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"


def test_children_are_listed_by_level_until_they_end():
    process = subprocess.Popen([sys.executable, "-c", CHAIN], stdin=subprocess.PIPE, text=True)
    try:
        (child,) = wait_for(lambda: processes_of(process.pid, "server"), process)
        assert below(process.pid) == [[child]]
        assert processes_of(process.pid, "monitor") == []
        assert processes_of(process.pid, "all") == [process.pid, child]
    finally:
        process.communicate("\n")
    assert below(process.pid) == []


def test_waiting_ends_with_the_process_that_it_is_for():
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with pytest.raises(AssertionError):
        wait_for(lambda: False, process)
