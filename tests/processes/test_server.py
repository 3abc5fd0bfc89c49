"""The server of monitors: it imports once, and survives being killed."""

import os
import signal

from mfbench.processes import monitor as server
from mfbench.processes.call import call


def test_a_server_that_was_killed_is_started_again():
    parent = call("os:getppid")
    assert server._server is not None
    process = server._server.process
    assert parent not in (os.getpid(), process.pid), "a monitor is in between"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert call("math:factorial", 3) == 6
    assert server._server.process.pid != process.pid


def test_modules_are_imported_once():
    assert call("builtins:len", "abc", preload=["wave"]) == 3
    assert call("builtins:eval", "'wave' in __import__('sys').modules")
    assert call("builtins:eval", "'no_such' in __import__('sys').modules", preload=["no_such"]) is False
