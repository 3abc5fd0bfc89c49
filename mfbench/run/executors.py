"""The local pool: it runs trials in worker processes, limits their time and survives crashes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import contextmanager
from typing import Any

import psutil
from pebble import ProcessExpired, ProcessPool

from mfbench.errors import RunError
from mfbench.run import worker
from mfbench.run.job import Job
from mfbench.run.process import LOG_VARIABLE, PID_PREFIX, THREAD_VARIABLES
from mfbench.run.trial.folds import SharedFits
from mfbench.run.trial.steps import selector_key
from mfbench.trials import Status, Trial, TrialResult

# Tasks handed to the pool ahead of time, per worker: enough that no worker waits, few enough that stopping is quick.
AHEAD = 3

_PRELOAD = ["mfbench.run.worker"]
# Python starts these processes with -c, which puts the working directory before the standard library: a file
# "socket.py" in an unpacked archive would be executed.
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}


class LocalPool:
    """Run trials in worker processes of this machine.

    Trials that share a selector fit form a group: the first one runs alone, the others get its fits and run anywhere.
    A trial that exceeds its time limit is killed; if a worker dies, only its own trial is lost.

    Parameters
    ----------
    job : Job
        The run.
    jobs : int
        Number of worker processes.
    timeout : float
        Limit of the wall time of a trial, in seconds.
    """

    def __init__(self, job: Job, jobs: int, timeout: float) -> None:
        self.job = job
        self.jobs = jobs
        self.timeout = timeout
        self._pool: ProcessPool | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> LocalPool:
        self._stack.enter_context(_environment(_SAFE_PATH))
        context = _context(self.job)
        self._pool = ProcessPool(max_workers=self.jobs, initializer=worker.start, initargs=[self.job], context=context)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._pool is not None
        if kind is None:
            self._pool.close()  # type: ignore[no-untyped-call]
        else:
            self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()
        self._stack.close()
        self._sweep()

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends, in any order."""
        groups = deque(_groups(trials, self.job))
        ready: deque[tuple[Trial, SharedFits, deque[Trial]]] = deque()
        done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        flying: dict[Future[Any], tuple[Trial, deque[Trial]]] = {}
        while groups or ready or flying:
            while len(flying) < self.jobs * AHEAD and (ready or groups):
                if not ready:
                    group = groups.popleft()
                    ready.append((group.popleft(), {}, group))
                trial, shared, followers = ready.popleft()
                flying[self._submit(trial, shared, done)] = trial, followers
            future = self._next(done)
            trial, followers = flying.pop(future)
            result, shared = self._collect(future, trial)
            if followers and shared:
                ready.extend((follower, shared, deque()) for follower in followers)
            elif followers:
                # The first trial of the group left no fit because it was killed: the next one leads.
                ready.append((followers.popleft(), {}, followers))
            yield trial, result

    def _submit(self, trial: Trial, shared: SharedFits, done: queue.SimpleQueue[Future[Any]]) -> Future[Any]:
        assert self._pool is not None
        try:
            future: Future[Any] = self._pool.schedule(worker.work, args=[trial, shared], timeout=self.timeout)
        except RuntimeError as error:  # pebble raises it if its workers cannot start
            raise self._broken() from error
        future.add_done_callback(done.put)
        return future

    def _next(self, done: queue.SimpleQueue[Future[Any]]) -> Future[Any]:
        """Wait for a result, but not for workers that cannot start."""
        assert self._pool is not None
        while True:
            try:
                return done.get(timeout=1.0)
            except queue.Empty:
                if not self._pool.active:
                    raise self._broken() from None

    def _broken(self) -> RunError:
        return RunError(
            f"the worker processes cannot start; their messages are in {self.job.log or 'the output above'}. A script "
            "must call run_suite under if __name__ == '__main__':, because workers import the script"
        )

    def _collect(self, future: Future[Any], trial: Trial) -> tuple[TrialResult, SharedFits]:
        # Not future.result(): an error of the worker belongs in this trial's row and must not be raised here.
        error = future.exception()
        if error is None:
            result: tuple[TrialResult, SharedFits] = future.result()
            return result
        if isinstance(error, TimeoutError):
            self._sweep()
            message = f"the trial ran longer than {self.timeout:g} s and was stopped"
            return _failed(trial, Status.TIMEOUT, "TimeoutError", message, self.timeout), {}
        if isinstance(error, ProcessExpired):
            self._sweep()
            return _failed(trial, Status.CRASH, "ProcessExpired", _describe_exit(error.exitcode), float("nan")), {}
        return _failed(trial, Status.ERROR, type(error).__name__, str(error), float("nan")), {}

    def _sweep(self) -> None:
        """End the children of dead workers: a method may have started processes of its own."""
        for file in self.job.data_folder.glob(f"{PID_PREFIX}*"):
            pid = int(file.name.removeprefix(PID_PREFIX))
            if _is_gone(pid):
                with contextlib.suppress(OSError):  # it has no children
                    os.killpg(pid, signal.SIGKILL)
                file.unlink(missing_ok=True)


def _is_gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _failed(trial: Trial, status: Status, kind: str, message: str, duration: float) -> TrialResult:
    return TrialResult(key=trial.key, status=status, error_type=kind, error_message=message, duration=duration)


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"the worker process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (the system may have run out of memory)" if name == "SIGKILL" else ""
    return f"the worker process was killed by {name}{hint}"


def _groups(trials: Iterable[Trial], job: Job) -> Iterator[deque[Trial]]:
    """Yield groups of trials that can share a selector fit, in the plan's order; other trials alone."""
    shared: dict[tuple[str, int, int, str], deque[Trial]] = {}
    order: list[deque[Trial]] = []
    for trial in trials:
        key = selector_key(job.methods[trial.method])
        coordinates = (trial.dataset, trial.repeat, trial.fold, key)
        if key and coordinates in shared:
            shared[coordinates].append(trial)
        else:
            group = deque([trial])
            order.append(group)
            if key:
                shared[coordinates] = group
    yield from order


def _context(job: Job) -> Any:
    """Return how processes start: forked from a server that has done the heavy imports, or from scratch without one.

    The server is started here, with native threads set to one: a library reads these variables when it is loaded, and
    forking a process whose thread pools have started is not safe.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOAD)
    # The server's children print before they open the log themselves; this belongs in the log too, not on the screen.
    log = {LOG_VARIABLE: str(job.log)} if job.log else {}
    with _environment({**dict.fromkeys(THREAD_VARIABLES, "1"), **log}):
        from multiprocessing import forkserver

        forkserver.ensure_running()
    return context


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
