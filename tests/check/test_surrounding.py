"""State that a method has changed before is seen to change again, and is put back."""

import os
import sys
import warnings

import numpy as np
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

from mfbench_check.checks.global_state import fresh_global_state


def change_everything():
    os.environ["MFBENCH_TEST_VARIABLE"] = "1"
    sys.path.append("/nowhere")
    np.seterr(all="ignore")
    sklearn.set_config(working_memory=3)
    warnings.simplefilter("ignore")
    os.umask(0o027)
    threadpool_limits(1)
    np.random.seed(0)  # noqa: NPY002 - the global state is the subject


def test_a_change_to_the_same_value_is_seen_each_time():
    seen = []
    for _ in range(2):
        with fresh_global_state(2) as state:
            change_everything()
            seen.append(state.differences())
    assert seen[0] == seen[1]
    assert {
        "the global random state of NumPy",
        "the warning filters",
        "the number of native threads",
        "os.environ (MFBENCH_TEST_VARIABLE)",
        "sys.path",
        "the umask",
        "NumPy's handling of errors",
        "scikit-learn's settings",
    } == set(seen[0])


def test_the_state_before_is_put_back(monkeypatch):
    monkeypatch.setenv("MFBENCH_TEST_BEFORE", "1")
    state = dict(os.environ), list(sys.path), np.geterr(), sklearn.get_config(), list(warnings.filters)
    with threadpool_limits(2):
        threads = [library["num_threads"] for library in threadpool_info()]
        with fresh_global_state():
            assert "MFBENCH_TEST_BEFORE" not in os.environ
            change_everything()
        assert threads == [library["num_threads"] for library in threadpool_info()]
    assert state == (dict(os.environ), list(sys.path), np.geterr(), sklearn.get_config(), list(warnings.filters))
