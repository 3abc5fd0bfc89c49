"""The supervisor of one worker: it sends trials, enforces their time limits, and replaces the process.

A worker is replaced by a clean fork of its monitor (`mfbench.processes.monitor`) after a trial that failed, exceeded a
limit or changed global state, when its memory has grown, and when it needs different plugins.
"""

import pickle
import time
from collections import deque

from mfbench.engines import Running
from mfbench.errors import RunError
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.channel import Channel
from mfbench.processes.child import open_child
from mfbench.processes.monitor import Ended, Prepared
from mfbench.processes.process import describe_exit
from mfbench.run.trial.folds import SharedFits
from mfbench.run.workers.job import BUILT_IN, Job, Owners
from mfbench.run.workers.trial_queue import QueuedTrial

# Modules that the server of all monitors imports once.
PRELOAD = ("mfbench.run.workers.worker",)
# Minimum seconds to load third-party plugins; a longer time limit of the trials applies here too.
_START_TIMEOUT = 60.0
# A worker whose last trial was shorter than this gets the next one ahead of time, so that it never waits for the main
# process. With longer trials, a trial must not wait for one worker while others are idle.
_SHORT = 0.1
# Maximum share of a worker's time spent on starting; it determines how long a worker serves one set of plugins at
# least.
_START_SHARE = 0.05

Outcome = tuple[QueuedTrial, TrialResult, SharedFits]


class Supervisor:
    """A slot for a worker."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.owners: Owners | None = None
        self._tasks: deque[QueuedTrial] = deque()
        self._channel: Channel | None = None
        self._last_seconds = float("inf")
        self._open()

    def _open(self) -> None:
        """Start a monitor; it loads the built-in plugins, and workers are forked from it."""
        self._child = open_child(PRELOAD)
        self._child.prepare("mfbench.run.workers.worker:prepare", self.job)
        self._is_prepared = False
        # Replaced workers whose end the monitor has not reported yet.
        self._replaced = 0
        self._is_running = self._is_ready = False
        self._started_at = self._ready_at = self._begun_at = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """Whether no trial is running."""
        return not self._tasks

    @property
    def running(self) -> Running | None:
        """The running trial; None while its worker is starting."""
        return (self._tasks[0].trial, time.monotonic() - self._begun_at) if self._tasks and self._is_ready else None

    @property
    def accepts_more(self) -> bool:
        """Whether a trial for the same plugins may be sent ahead of time."""
        return len(self._tasks) == 1 and self._last_seconds < _SHORT

    @property
    def may_change(self) -> bool:
        """Whether the worker has served its plugins long enough to be replaced by one with other plugins."""
        if self.owners is None or not self._is_ready:
            return self.owners is None
        return (self._ready_at - self._started_at) <= _START_SHARE * (time.monotonic() - self._ready_at)

    @property
    def deadline(self) -> float:
        """The time, on the monotonic clock, at which the running trial exceeds its limit."""
        if not self._tasks or not self._is_prepared:
            return float("inf")
        return (self._begun_at if self._is_ready else self._started_at) + self._timeout

    @property
    def _timeout(self) -> float:
        """The time limit in seconds of the worker's current activity: running a trial or loading plugins."""
        timeout = self.job.settings.timeout
        return timeout if self._is_ready else max(_START_TIMEOUT, timeout)

    def channels(self) -> list[Channel]:
        """Return the connections to wait for."""
        return [c for c in (self._child.control, self._channel) if c is not None and not c.is_closed]

    def submit(self, task: QueuedTrial) -> None:
        """Run a trial as soon as the previous one ends; replace the worker if it serves other plugins."""
        if self._channel is None or self.owners != task.owners:
            assert not self._tasks
            self._start(task.owners)
        if not self._tasks:
            self._begun_at = time.monotonic()
        self._tasks.append(task)
        self._send(task)

    def _start(self, owners: Owners) -> None:
        """Start a worker in place of the previous one, and send it the trials that have not started."""
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
        self.owners, self._is_ready, self._is_running = owners, False, True
        self._started_at = self._begun_at = time.monotonic()
        for task in self._tasks:
            self._send(task)

    def _replace(self) -> None:
        """Replace the worker; a trial that has not started goes to the next one."""
        if self._child.control.is_closed:
            self._child.close()
            self._open()
        if self._tasks:
            assert self.owners is not None
            self._start(self.owners)
            return
        if self._channel is not None:  # the next trial may need other plugins
            self._channel.close()
        if self._is_running:
            self._child.end()
        self._channel, self.owners = None, None

    def _send(self, task: QueuedTrial) -> None:
        assert self._channel is not None
        self._channel.send(pickle.dumps((task.trial, task.shared)))

    def outcomes(self) -> list[Outcome]:
        """Return the trials that have ended since the last call, without blocking."""
        if self._channel is not None:
            self._channel.flush()
        outcomes = self._results()
        for event in self._child.events():
            if isinstance(event, Prepared):
                self._is_prepared = True
                self._started_at = time.monotonic()
            elif self._replaced:
                self._replaced -= 1
            else:
                self._is_running = False
                outcomes += self._after_end(event)
        if self._child.control.is_closed:
            if not self._is_prepared:
                raise self._broken()
            outcomes += self._after_end(None)
        if time.monotonic() >= self.deadline:
            message = f"{self._plugins} did not load within {self._timeout:g} s"
            if self._is_ready:
                message = f"the trial ran longer than {self._timeout:g} s and was stopped"
            outcomes.append(self._failure(Status.TIMEOUT, "TimeoutError", message, self.job.settings.timeout))
            self._replace()
        return outcomes

    def _results(self) -> list[Outcome]:
        """Return the results that the worker has sent; replace the worker if it reports that it is spent."""
        outcomes: list[Outcome] = []
        for message in self._channel.messages() if self._channel is not None else ():
            now = time.monotonic()
            if not self._is_ready:
                self._is_ready, self._ready_at, self._begun_at = True, now, now
                continue
            task = self._tasks.popleft()
            self._last_seconds, self._begun_at = now - self._begun_at, now
            try:
                result, fits, is_spent = pickle.loads(message)  # nosec B301  # from our own worker
            except Exception as error:  # noqa: BLE001 - the class of an object may not be importable here
                reason = f"the result cannot be read: {error}"
                result, fits, is_spent = failed(task.trial, Status.ERROR, type(error).__name__, reason), {}, True
            outcomes.append((task, result, fits))
            if is_spent:
                self._replace()
                break
        return outcomes

    def _after_end(self, ended: Ended | None) -> list[Outcome]:
        """Return the results sent before a worker ended, and the failure of its running trial; replace the worker."""
        channel = self._channel
        outcomes = self._results()
        if self._channel is not channel:
            return outcomes  # the worker had reported that it was spent, and was replaced
        if self._tasks:
            where = "" if self._is_ready else f" while it loaded {self._plugins}"
            if ended is not None and ended.is_memory:
                limit = self.job.memory_limit / 2**30
                reason = f"the processes of the trial together exceeded the limit of {limit:.3g} GiB and were ended"
                outcomes.append(self._failure(Status.MEMORY, "MemoryError", reason))
            elif self.owners == BUILT_IN and not self._is_ready:
                raise self._broken()
            else:
                how = "was killed together with its monitor" if ended is None else describe_exit(ended.code)
                outcomes.append(self._failure(Status.CRASH, "ProcessExpired", f"the worker process {how}{where}"))
        self._replace()
        return outcomes

    def _failure(self, status: Status, kind: str, message: str, duration: float = float("nan")) -> Outcome:
        task = self._tasks.popleft()
        return task, failed(task.trial, status, kind, message, duration), {}

    @property
    def _plugins(self) -> str:
        return f"the plugins of {', '.join(sorted(self.owners))}" if self.owners else "the built-in plugins"

    def _broken(self) -> RunError:
        return RunError(
            f"the worker processes cannot start; their messages are in {self.job.log or 'the output above'}"
        )

    def close(self) -> None:
        """Request the end of the worker and its monitor; `join` waits for it."""
        if self._channel is not None:
            self._channel.close()
        self._child.release()

    def join(self, patience: float | None = None) -> None:
        """Wait at most `patience` seconds until both and all descendants are gone; None means the default."""
        if patience is None:
            self._child.close()
        else:
            self._child.close(patience)


def failed(trial: Trial, status: Status, kind: str, message: str, duration: float = float("nan")) -> TrialResult:
    """Return the result of a trial that did not report one itself."""
    return TrialResult(key=trial.key, status=status, error_type=kind, error_message=message, duration=duration)
