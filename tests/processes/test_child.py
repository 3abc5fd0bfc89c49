"""A child and its monitor: replacing, limits, and a monitor that is killed."""

import sys

import pytest

from mfbench.processes.channel import wait
from mfbench.processes.child import Child
from mfbench.processes.monitor import Ended, Prepared

FUNCTIONS = """
import os, signal, time
state = []

def remember(value): state.append(value)
def tell(channel):
    from mfbench.processes.channel import framed
    channel.sendall(framed(repr(state).encode()))
    state.append("changed by a child")
def sleep(channel): time.sleep(1000)
def kill_the_monitor(channel):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)
def babble(channel): os.system("yes | head -c 2000000")
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    (tmp_path / "functions_of_children.py").write_text(FUNCTIONS)
    # The monitor's own path is the server's, which may be older than this test.
    child = Child()
    child.prepare("builtins:exec", f"import sys; sys.path.insert(0, {str(tmp_path)!r})")
    monkeypatch.syspath_prepend(tmp_path)
    yield child
    child.close()


def next_event(child):
    while True:
        wait([child.control], 60)
        for event in child.events():
            return event
        if child.control.is_closed:
            return None


def told(channel):
    while True:
        wait([channel], 60)
        for message in channel.messages():
            return message.decode()


def test_every_child_is_forked_clean(child):
    assert next_event(child) == Prepared()
    child.prepare("functions_of_children:remember", "prepared")
    assert next_event(child) == Prepared()
    for _ in range(2):
        assert told(child.start("functions_of_children:tell")) == "['prepared']"
        assert next_event(child) == Ended(0)


def test_a_new_child_replaces_the_one_before(child):
    assert next_event(child) == Prepared()
    child.start("functions_of_children:sleep")
    channel = child.start("functions_of_children:tell")
    assert next_event(child) == Ended(-9)
    assert told(channel) == "[]"
    assert next_event(child) == Ended(0)
    child.start("functions_of_children:sleep")
    child.end()
    assert next_event(child) == Ended(-9)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent")
def test_a_monitor_that_is_killed_is_noticed(child):
    assert next_event(child) == Prepared()
    child.start("functions_of_children:kill_the_monitor")
    assert next_event(child) is None


def test_a_log_that_is_full_is_emptied(child, tmp_path, monkeypatch):
    assert next_event(child) == Prepared()
    log = tmp_path / "log"
    log.write_bytes(b"x" * 49_000_000)
    child.start("functions_of_children:babble", log=log)
    assert next_event(child) == Ended(0)
    assert log.stat().st_size < 100
    assert b"[mfbench dropped output" in log.read_bytes()
    child.start("functions_of_children:babble", log=log)
    assert next_event(child) == Ended(0)
    assert 2e6 <= log.stat().st_size < 2.001e6
