"""What a worker does with a call."""

import threading
import types

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed.core import Status

from mfbench_cluster.dask import session

KEY = ("mfbench", 1, 0)


def worker_with(state, status=Status.running, key=KEY):
    tasks = {key: types.SimpleNamespace(state=state)}
    return types.SimpleNamespace(status=status, state=types.SimpleNamespace(tasks=tasks, nthreads=3))


def test_a_task_counts_while_it_executes(subtests):
    for state, expected in [
        ("executing", True),
        ("long-running", True),
        ("cancelled", False),
        ("resumed", False),
        ("released", False),
    ]:
        with subtests.test(state=state, expected=expected):
            assert session.is_wanted(worker_with(state), KEY) is expected


def test_a_task_that_the_worker_has_forgotten_does_not_count():
    assert not session.is_wanted(worker_with("executing", key="another"), KEY)


def test_nothing_counts_at_a_worker_that_leaves(subtests):
    for status in [Status.closing, Status.closed, Status.failed]:
        with subtests.test(status=status):
            assert not session.is_wanted(worker_with("executing", status), KEY)


def test_mfbench_is_told_the_threads_and_whether_the_answer_is_wanted(monkeypatch):
    worker = worker_with("executing")
    worker.get_current_task = lambda: KEY
    monkeypatch.setattr(session, "get_worker", lambda: worker)
    seen = {}

    def answer(payload, *, slots, is_wanted):
        seen.update(payload=payload, slots=slots, before=is_wanted())
        worker.state.tasks.clear()
        seen.update(after=is_wanted(), thread=threading.current_thread())
        return b"answer"

    monkeypatch.setattr(session.service, "answer", answer)
    assert session.answer(b"payload") == b"answer"
    assert seen["thread"] is threading.current_thread()
    assert {name: seen[name] for name in ("payload", "slots", "before", "after")} == {
        "payload": b"payload",
        "slots": 3,
        "before": True,
        "after": False,
    }
