"""The state that trials share: every change is named, and a plain trial changes nothing."""

import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import threadpoolctl

from mfbench.run.surroundings import Surroundings


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
}


@pytest.fixture
def surroundings(monkeypatch, tmp_path):
    """The surroundings; after the test all is as it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MFBENCH_TEST_VARIABLE", "0")
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - the subject
    with threadpoolctl.threadpool_limits(1):
        yield Surroundings()
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002 - the subject


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named(surroundings, name):
    with warnings.catch_warnings():
        _check(surroundings, name)


def _check(surroundings, name):
    surroundings.begin(7)
    assert surroundings.changes() == ""
    kept = CHANGES[name]()
    assert surroundings.changes() == name.removesuffix(" (seed)")
    if "open files" in name:
        surroundings.accept_files()
        assert surroundings.changes() == ""
        os.close(kept)
    surroundings.begin(8)
    assert surroundings.changes() == ""


def test_a_process_that_is_left_is_named():
    code = """
import subprocess, sys
from mfbench.run.surroundings import Surroundings
surroundings = Surroundings()
surroundings.begin(0)
process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
assert "child processes (not ended)" in surroundings.changes()
process.communicate(b"\\n")
assert surroundings.changes() == ""
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_the_seed_of_a_trial_determines_what_the_global_state_draws(surroundings):
    drawn = []
    for seed in (2**40 + 1, 2**40 + 1, 3):
        surroundings.begin(seed)
        drawn.append((random.random(), np.random.rand()))  # noqa: NPY002 - the subject
    assert drawn[0] == drawn[1] != drawn[2]
