"""The state that trials share: every change is named, and a plain trial changes nothing."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import sklearn
import threadpoolctl

from mfbench.run.workers.global_state import GlobalState


def _reseed():
    np.random.seed(5)  # noqa: NPY002 - the subject


CHANGES = {
    "the global random state of Python": random.random,
    "the global random state of NumPy": np.random.rand,
    "the global random state of NumPy (seed)": _reseed,
    "the warning filters": lambda: warnings.simplefilter("ignore"),
    "os.environ (MFBENCH_TEST_VARIABLE)": lambda: os.environ.update(MFBENCH_TEST_VARIABLE="1"),
    "os.environ (HOME)": lambda: os.environ.pop("HOME"),
    "the working directory": lambda: os.chdir("/"),
    "open files (1 more)": lambda: os.dup(1),
    "the number of native threads": lambda: threadpoolctl.threadpool_limits(2),
    "sys.path": lambda: sys.path.insert(0, "/somewhere"),
    "signal handlers": lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN),
    "a timer": lambda: signal.setitimer(signal.ITIMER_REAL, 1000.0),
    "the umask": lambda: os.umask(0o123),
    "NumPy's handling of errors": lambda: np.seterr(over="raise"),
    "scikit-learn's settings": lambda: sklearn.set_config(assume_finite=True),
    "threads (not ended)": lambda: threading.Timer(1000.0, print).start(),
}


@pytest.fixture
def state(monkeypatch, tmp_path):
    """The global state; after the test all is as it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MFBENCH_TEST_VARIABLE", "0")
    monkeypatch.setattr(sys, "path", list(sys.path))
    handler, mask = signal.getsignal(signal.SIGALRM), os.umask(0o022)
    os.umask(mask)
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - the subject
    with threadpoolctl.threadpool_limits(1), np.errstate(), sklearn.config_context():
        yield GlobalState()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, handler)
    os.umask(mask)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
            thread.join()
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002 - the subject


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named(state, name):
    with warnings.catch_warnings():
        _check(state, name)


def _check(state, name):
    gc.collect()  # or `changes` closes files of earlier tests and counts those too
    state.begin(7)
    assert state.changes() == ""
    kept = CHANGES[name]()
    assert state.changes() == name.removesuffix(" (seed)")
    if "open files" in name:
        state.accept_files()
        assert state.changes() == ""
        os.close(kept)
    state.begin(8)
    assert state.changes() == ""


def test_a_thread_that_is_ending_is_not_named(state):
    state.begin(7)
    threading.Timer(0.05, int).start()
    assert state.changes() == ""


def test_a_process_that_is_left_is_named():
    code = """
import subprocess, sys
from mfbench.run.workers.global_state import GlobalState
state = GlobalState()
state.begin(0)
process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
assert "child processes (not ended)" in state.changes()
process.communicate(b"\\n")
assert state.changes() == ""
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_the_seed_of_a_trial_determines_what_the_global_state_draws(state):
    drawn = []
    for seed in (2**40 + 1, 2**40 + 1, 3):
        state.begin(seed)
        drawn.append((random.random(), np.random.rand()))  # noqa: NPY002 - the subject
    assert drawn[0] == drawn[1] != drawn[2]
