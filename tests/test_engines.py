"""The interfaces of executors and engines: they import nothing heavy, and nothing of them can be left out."""

import subprocess
import sys

import pytest

from mfbench.engines import CallOutcome, Engine, Executor


def test_an_engine_without_all_methods_cannot_be_made():
    class Half(Engine):
        def workers(self):
            return {}

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_an_executor_has_four_methods():
    assert Executor.__abstractmethods__ == {"start", "submit", "collect", "close"}
    assert dict(Executor.machines) == {}


def test_a_lost_call_has_no_answer():
    assert CallOutcome(3, None, reason="the worker was lost").worker == ""


def test_it_imports_neither_numpy_nor_the_runner():
    code = "import sys, mfbench.engines; print([m for m in sys.modules if m in ('numpy', 'mfbench.run')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
