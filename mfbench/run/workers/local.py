"""The local pool: runs trials in worker processes on this machine, enforces limits and survives crashes."""

import platform
import time
from collections.abc import Callable, Iterable, Iterator

from mfbench.engines import Executor, Follow
from mfbench.model.trials import Trial, TrialResult
from mfbench.processes.channel import wait
from mfbench.run.environment import kind_of_machine
from mfbench.run.forecast.order import Budget
from mfbench.run.workers.job import Job, Owners
from mfbench.run.workers.supervisor import Supervisor
from mfbench.run.workers.trial_queue import TrialQueue

# Seconds to wait for all processes to end if the run has a budget.
_PATIENCE = 1.0
# Seconds between two calls of `is_wanted` and `follow`.
_INTERVAL = 0.25


class WithdrawnError(Exception):
    """The results are no longer wanted; closing the pool kills the running trials."""


class LocalPool(Executor):
    """Runs trials in worker processes on this machine."""

    # Trials that share a selector fit form a group: the first one runs alone, then the others get its fits and run on
    # any worker. A trial that exceeds its time limit is killed; if a worker dies, only its own trial is lost. A worker
    # loads the plugins of one set of distributions, in addition to the built-in ones, and runs only their trials.

    budget: Budget | None = None
    follow: Follow | None = None

    def __init__(self, jobs: int) -> None:
        self.is_wanted: Callable[[], bool] | None = None
        self._next_report = 0.0
        self.jobs = jobs
        self._slots: list[Supervisor] = []

    def start(self, job: Job, budget: Budget | None = None, follow: Follow | None = None) -> None:
        """Create a slot for each worker; workers start with their first trials."""
        self.job, self.budget, self.follow = job, budget, follow
        self.machines = {platform.node(): kind_of_machine()}
        self._slots = [Supervisor(job) for _ in range(self.jobs)]

    def submit(self, trials: Iterable[Trial]) -> None:
        """Queue trials in execution order."""
        self._queue = TrialQueue(trials, self.job, None if self.budget is None else self.budget.admits)

    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends; raise `WithdrawnError` when `is_wanted` returns False."""
        while self.budget is None or not self.budget.is_over:
            self._report()
            self._hand_out()
            if all(slot.is_idle for slot in self._slots):
                return
            for slot in self._wait():
                for task, result, fits in slot.outcomes():
                    self._queue.finish(task, fits)
                    self._hand_out()  # before the result is stored, so that no worker waits for it
                    yield task.trial, result

    def close(self) -> None:
        """Kill all workers."""
        for slot in self._slots:
            slot.close()
        end = time.monotonic() + _PATIENCE
        for slot in self._slots:
            # A monitor that is still importing receives the request late; a run with a budget does not wait for it.
            slot.join(None if self.budget is None else end - time.monotonic())

    def _report(self) -> None:
        if time.monotonic() < self._next_report:
            return
        if self.is_wanted is not None and not self.is_wanted():
            raise WithdrawnError
        if self.follow is not None:
            self.follow([running for slot in self._slots if (running := slot.running) is not None])
        self._next_report = time.monotonic() + _INTERVAL

    def _hand_out(self) -> None:
        for slot in self._slots:
            sets = self._order(slot)
            if slot.is_idle:
                task = next((task for owners in sets if (task := self._queue.take(owners))), None)
            else:
                may_wait = slot.accepts_more and sets[:1] == [slot.owners]
                task = self._queue.take(sets[0]) if may_wait else None
            if task is not None:
                slot.submit(task)

    def _wait(self) -> list[Supervisor]:
        """Wait for an answer, the end of a worker or a deadline; return the slots with possible outcomes."""
        slots = {channel: slot for slot in self._slots for channel in slot.channels()}
        deadline = min(slot.deadline for slot in self._slots)
        if self.budget is not None:
            deadline = min(deadline, self.budget.deadline)
        patience = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        if self.is_wanted is not None or self.follow is not None:
            patience = _INTERVAL if patience is None else min(patience, _INTERVAL)
        awake = {slots[channel] for channel in wait(slots, patience)}
        now = time.monotonic()
        return [slot for slot in self._slots if slot in awake or slot.deadline <= now]

    def _order(self, slot: Supervisor) -> list[Owners]:
        """Return the sets of distributions to try in order: the worker's own first, until it has served long enough."""
        # With a budget, it must not get a round ahead of other sets: all methods should have the same folds.
        sets = self._queue.sets()
        own = slot.owners
        if own is None or own not in sets or slot.may_change:
            return sets
        if self.budget is not None and self._queue.first(own) - self._queue.first(sets[0]) > self.budget.cells:
            return sets
        sets.sort(key=lambda owners: owners != own)
        return sets
