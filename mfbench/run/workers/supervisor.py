"""The supervisor of one worker process: it sends trials, keeps their deadlines, and replaces the process.

A worker is replaced by one that is forked clean from its keeper (`mfbench.processes.keeper`) after a trial that
failed, exceeded a limit or touched what all trials share, when its memory has grown, and when the plugins that it must
load change.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from mfbench.engines import Running
from mfbench.errors import RunError
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.channel import Channel, loads
from mfbench.processes.child import open_child
from mfbench.processes.keeper import Ended, Prepared
from mfbench.processes.process import describe_exit
from mfbench.run.trial.folds import SharedFits
from mfbench.run.workers.agenda import Task
from mfbench.run.workers.answer_check import check_clock
from mfbench.run.workers.job import Job
from mfbench.run.workers.owners import BUILT_IN, Owners

# Modules that the server of all keepers imports once.
PRELOAD = ("mfbench.run.workers.worker",)
# Seconds to load the plugins of third parties at least; a longer time limit of the trials applies to this as well.
_START_TIMEOUT = 60.0
# A trial is sent ahead of time to a worker whose last trial was shorter than this: no worker then waits for the main
# process. A longer trial must not keep another one waiting while other workers have nothing to do.
_SHORT = 0.1
# The start of a worker may take this share of its time; it serves one set of plugins at least that long.
_START_SHARE = 0.05

Outcome = tuple[Task, TrialResult, SharedFits]
Check = Callable[[Trial, TrialResult], str]


class Supervisor:
    """A place for a worker."""

    def __init__(self, job: Job, timeout: float, check: Check) -> None:
        self.job = job
        self.timeout = timeout
        self._check = check
        self._moments: dict[str, list[float]] = {}
        self.owners: Owners | None = None
        self._tasks: deque[Task] = deque()
        self._channel: Channel | None = None
        self._last_seconds = float("inf")
        # Whether a worker that did not start has been given a new keeper.
        self._has_new_keeper = False
        self._open()

    def _open(self) -> None:
        """Start a keeper; it loads the built-in plugins, and workers are forked from it."""
        self._child = open_child(PRELOAD)
        self._child.prepare("mfbench.run.workers.worker:prepare", self.job)
        self._is_prepared = False
        # Workers that were replaced and whose end the keeper has not reported yet.
        self._replaced = 0
        self._is_running = self._is_ready = False
        self._started_at = self._ready_at = self._begun_at = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether no trial runs."""
        return not self._tasks

    @property
    def running(self) -> Running | None:
        """The trial that runs; None while its worker still starts."""
        return (self._tasks[0].trial, time.monotonic() - self._begun_at) if self._tasks and self._is_ready else None

    @property
    def accepts_more(self) -> bool:
        """Whether a trial of the same set of plugins may be sent ahead of time."""
        return len(self._tasks) == 1 and self._last_seconds < _SHORT

    @property
    def may_change(self) -> bool:
        """Whether the worker has served its plugins long enough to be replaced by one with others."""
        if self.owners is None or not self._is_ready:
            return self.owners is None
        return (self._ready_at - self._started_at) <= _START_SHARE * (time.monotonic() - self._ready_at)

    @property
    def deadline(self) -> float:
        """The moment, of the monotonic clock, when the trial that runs exceeds its limit."""
        if not self._tasks or not self._is_prepared:
            return float("inf")
        if not self._is_ready:
            return self._started_at + max(_START_TIMEOUT, self.timeout)
        return self._begun_at + self.timeout

    def channels(self) -> list[Channel]:
        """Return the connections to wait for."""
        return [c for c in (self._child.control, self._channel) if c is not None and not c.is_closed]

    def submit(self, task: Task) -> None:
        """Run a trial as soon as the one before it ends; replace the worker if it serves other plugins."""
        if self._channel is None or self.owners != task.owners:
            assert not self._tasks
            self._start(task.owners)
        if not self._tasks:
            self._begun_at = time.monotonic()
        self._tasks.append(task)
        self._send(task)

    def _start(self, owners: Owners) -> None:
        """Start a worker in the place of another one, which the keeper ends first."""
        if self._channel is not None:
            self._channel.close()
        self._replaced += self._is_running
        self._channel = self._child.start(
            "mfbench.run.workers.worker:serve",
            owners,
            memory=self.job.memory_limit,
            log=self.job.log,
            path=self.job.path,
        )
        self._moments = {}  # the worker before may have begun what this one is sent
        self.owners, self._is_ready, self._is_running = owners, False, True
        self._started_at = time.monotonic()

    def _replace(self) -> None:
        """Replace the worker; a trial that it has not begun goes to the next one."""
        if self._child.control.is_closed:
            self._child.close()
            self._open()
        if not self._tasks:  # the next trial may need other plugins
            if self._channel is not None:
                self._channel.close()
            if self._is_running:
                self._child.end()
            self._channel, self.owners = None, None
            return
        assert self.owners is not None
        self._start(self.owners)
        self._begun_at = time.monotonic()
        for task in self._tasks:
            self._send(task)

    def _start_elsewhere(self) -> None:
        """Start the worker under a new keeper: an earlier trial may have stopped the old one."""
        assert self.owners is not None
        self._child.release()  # to wait for it would be to wait for ever
        self._open()
        self._has_new_keeper = True
        self._start(self.owners)
        for task in self._tasks:
            self._send(task)

    def _send(self, task: Task) -> None:
        assert self._channel is not None
        task.sent = time.monotonic()
        self._channel.send(pickle.dumps((task.trial, task.shared)))

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the trials that have ended since the last call, without waiting."""
        if self._channel is not None:
            self._channel.flush()
            yield from self._results()
        for event in self._child.events():
            if isinstance(event, Prepared):
                self._is_prepared = True
                self._started_at = time.monotonic()
            elif self._replaced:
                self._replaced -= 1
            else:
                self._is_running, ended = False, self._channel
                yield from self._results()  # those that it sent before it ended
                # One of them may have said that the worker is spent: then another one has its place and the next trial.
                if self._channel is ended:
                    yield from self._lost(event)
        if self._child.control.is_closed:
            if not self._is_prepared:
                raise self._broken()
            yield from self._lost(None)
        if time.monotonic() >= self.deadline:
            if self._is_ready or self._has_new_keeper:
                yield self._failure(*self._overdue())
                self._replace()
            else:
                self._start_elsewhere()

    def _results(self) -> Iterator[Outcome]:
        channel = self._channel
        if channel is None:
            return
        for message in channel.messages():
            if not self._is_ready:
                self._is_ready, self._ready_at = True, time.monotonic()
                self._has_new_keeper = False
                self._begun_at = self._ready_at
                continue
            if not self._tasks:  # more answers than trials: a process that should not be there sends them
                continue
            task = self._tasks.popleft()
            now = time.monotonic()
            self._last_seconds, self._begun_at = now - self._begun_at, now
            result, fits, is_spent = _read(message, task.trial)
            least, marked = self._least_seconds(task, channel), result.touched
            check_clock(result, least, now - task.sent)
            if wrong := self._check(task.trial, result):
                result, fits = failed(task.trial, Status.ERROR, "ResultError", wrong, result.duration), {}
            # What changed the scores or the clock of this trial would change those of the next one.
            is_spent |= bool(wrong) or result.touched != marked
            if is_spent:
                self._replace()
            yield task, result, fits
            if is_spent:
                return

    def _least_seconds(self, task: Task, channel: Channel) -> float:
        """Return the seconds between the first and the last moment that a worker has marked in a trial."""
        for key, moment in channel.moments():
            self._moments.setdefault(key, []).append(moment)
        own = self._moments.pop(task.trial.key, [0.0])
        waiting = {each.trial.key for each in self._tasks}
        self._moments = {key: moments for key, moments in self._moments.items() if key in waiting}
        return own[-1] - own[0]

    def _lost(self, ended: Ended | None) -> Iterator[Outcome]:
        """Yield the failure of the trial whose worker has ended, and replace the worker."""
        if self._tasks:
            if self.owners == BUILT_IN and not self._is_ready and not (ended is not None and ended.is_memory):
                raise self._broken()
            yield self._failure(*self._death(ended))
        self._replace()

    def _failure(self, status: Status, kind: str, message: str) -> Outcome:
        self._has_new_keeper = False
        task = self._tasks.popleft()
        duration = self.timeout if status is Status.TIMEOUT else float("nan")
        return task, failed(task.trial, status, kind, message, duration), {}

    def _overdue(self) -> tuple[Status, str, str]:
        if not self._is_ready:
            seconds = max(_START_TIMEOUT, self.timeout)
            return Status.TIMEOUT, "TimeoutError", f"{self._names()} did not load within {seconds:g} s"
        return Status.TIMEOUT, "TimeoutError", f"the trial ran longer than {self.timeout:g} s and was stopped"

    def _death(self, ended: Ended | None) -> tuple[Status, str, str]:
        if ended is not None and ended.is_memory:
            limit = self.job.memory_limit / 2**30
            reason = f"the processes of the trial together exceeded the limit of {limit:.3g} GiB and were ended"
            return Status.MEMORY, "MemoryError", reason
        end = describe_exit(ended.code) if ended is not None else "was killed together with its keeper"
        where = "" if self._is_ready else f" while it loaded {self._names()}"
        return Status.CRASH, "ProcessExpired", f"the worker process {end}{where}"

    def _names(self) -> str:
        return f"the plugins of {', '.join(sorted(self.owners))}" if self.owners else "the built-in plugins"

    def _broken(self) -> RunError:
        return RunError(
            f"the worker processes cannot start; their messages are in {self.job.log or 'the output above'}"
        )

    def close(self) -> None:
        """Ask for the end of the worker and its keeper; `join` waits for it."""
        if self._channel is not None:
            self._channel.close()
        self._child.release()

    def join(self, patience: float | None = None) -> None:
        """Wait until nothing is left of them, at most so many seconds; None for the time that this usually takes."""
        if patience is None:
            self._child.close()
        else:
            self._child.close(patience)


def failed(trial: Trial, status: Status, kind: str, message: str, duration: float = float("nan")) -> TrialResult:
    """Return the result of a trial that did not report one itself."""
    return TrialResult(key=trial.key, status=status, error_type=kind, error_message=message, duration=duration)


def _read(message: bytearray, trial: Trial) -> tuple[TrialResult, SharedFits, bool]:
    """Return a worker's answer: the result, the selector fits to share, and whether the worker is spent."""
    answer: Any
    try:
        answer = loads(message)
        result, fits, is_spent = answer
    except Exception as error:  # noqa: BLE001 - the answer may hold anything
        reason = f"the result cannot be read: {error}"
        return failed(trial, Status.ERROR, type(error).__name__, reason), {}, True
    if not isinstance(result, TrialResult) or result.key != trial.key:
        return (
            failed(trial, Status.CRASH, "ProcessExpired", "the worker answered with another trial's result"),
            {},
            True,
        )
    return result, fits, is_spent
