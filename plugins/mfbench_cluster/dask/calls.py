"""What a worker of Dask does with a call: it gives it to mfbench, and says whether somebody still waits for it."""

from __future__ import annotations

from distributed import Worker, get_worker
from distributed.core import Status

from mfbench_cluster import service

_RUNNING = ("executing", "long-running")
_OPEN = (Status.running, Status.paused)


def answer(payload: bytes) -> bytes:
    """Return what mfbench answers; called in a thread of the worker, within a task."""
    worker = get_worker()
    key = worker.get_current_task()
    return service.answer(payload, slots=worker.state.nthreads, is_wanted=lambda: is_wanted(worker, key))


def is_wanted(worker: Worker, key: object) -> bool:
    """Tell whether a task still counts: Dask cannot stop its thread, so the thread has to ask."""
    task = worker.state.tasks.get(key)
    return worker.status in _OPEN and task is not None and task.state in _RUNNING
