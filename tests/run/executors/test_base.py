"""The interface of executors."""

import pytest

from mfbench.run.executors.base import Executor
from mfbench.run.executors.local import LocalPool


def test_an_executor_is_a_context_that_runs_trials():
    with pytest.raises(TypeError, match="abstract"):
        Executor()
    assert issubclass(LocalPool, Executor)
