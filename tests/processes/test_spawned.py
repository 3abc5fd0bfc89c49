"""Children without a monitor: a whole run, and the ends of children."""

import pytest

from mfbench.processes import child as child_module
from mfbench.processes.call import call
from mfbench.processes.channel import wait
from mfbench.processes.monitor import Ended, Prepared


@pytest.fixture(autouse=True)
def no_fork(monkeypatch):
    monkeypatch.setattr(child_module, "CAN_FORK", False)


def next_event(child):
    while True:
        wait([child.control], 300)
        for event in child.events():
            return event


def test_a_call_needs_no_monitor(tmp_path):
    assert call("math:factorial", 5) == 120
    assert call("os:system", "echo printed", log=tmp_path / "log") == 0
    assert (tmp_path / "log").read_text().strip() == "printed"


def test_a_child_is_replaced_and_ended(tmp_path):
    child = child_module.open_child()
    assert isinstance(child, child_module.SpawnedChild)
    child.prepare("builtins:exec", "import time, sys; sys.sleep = lambda *_: time.sleep(1000)")
    assert next_event(child) == Prepared()
    child.start("sys:sleep")
    child.start("sys:sleep")
    assert next_event(child) == Ended(-9)
    child.end()
    assert next_event(child) == Ended(-9)
    child.close()


@pytest.mark.parametrize(
    "code",
    [
        "import time; held = bytearray(b'x' * 400_000_000); time.sleep(1000)",
        # A child of the child holds it.
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; "
        'held = bytearray(b"x" * 400_000_000); time.sleep(1000)\'])',
    ],
    ids=["child", "grandchild"],
)
def test_a_child_that_uses_too_much_memory_is_ended_with_everything_below_it(code):
    child = child_module.open_child()
    child.prepare("builtins:exec", f"import sys\ndef run(*_):\n    exec({code!r}, {{}})\nsys.hold = run")
    assert next_event(child) == Prepared()
    child.start("sys:hold", memory=2**28)
    assert next_event(child) == Ended(-9, is_memory=True)
    child.start("sys:hold")  # without a limit it may
    child.end()
    assert next_event(child) == Ended(-9)
    child.close()
