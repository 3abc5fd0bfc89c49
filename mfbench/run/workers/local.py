"""The local pool: it runs trials in worker processes of this machine, limits them and survives their crashes."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator

from mfbench.engines import Executor, Follow
from mfbench.model.trials import Trial, TrialResult
from mfbench.processes.channel import wait
from mfbench.processes.log import make_room
from mfbench.run.environment import kind_of_machine
from mfbench.run.forecast.budget import Budget
from mfbench.run.workers.agenda import Agenda
from mfbench.run.workers.answer_check import AnswerCheck
from mfbench.run.workers.job import Job
from mfbench.run.workers.owners import Owners
from mfbench.run.workers.supervisor import Supervisor

# Seconds to wait for the end of all processes of a run that has a budget.
_PATIENCE = 1.0
# Seconds between two looks: whether the results are still wanted, and for whoever follows the trials.
_LOOK = 0.25


class WithdrawnError(Exception):
    """Nobody wants the results of the trials any more; those that run are ended when the pool is closed."""


class LocalPool(Executor):
    """Run trials in worker processes of this machine."""

    # Trials that share a selector fit form a group: the first one runs alone, the others get its fits and run anywhere.
    # A trial that exceeds its time limit is killed; if a worker dies, only its own trial is lost. A worker loads the
    # plugins of one set of distributions, besides the built-in ones, and runs only their trials.

    budget: Budget | None = None
    follow: Follow | None = None

    def __init__(self, jobs: int) -> None:
        self.is_wanted: Callable[[], bool] | None = None
        self._next_look = 0.0
        self.jobs = jobs
        self._places: list[Supervisor] = []

    def start(self, job: Job, budget: Budget | None = None, follow: Follow | None = None) -> None:
        """Make a place for each worker; workers start with their first trials."""
        self.job, self.budget, self.follow = job, budget, follow
        if job.log is not None:
            make_room(job.log)
        self.machines = {platform.node(): kind_of_machine()}
        check = AnswerCheck(job)
        self._places = [Supervisor(job, job.settings.timeout, check) for _ in range(self.jobs)]

    def submit(self, trials: Iterable[Trial]) -> None:
        """Take trials, in the order in which to run them."""
        self._agenda = Agenda(trials, self.job, None if self.budget is None else self.budget.admits)

    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends; raise `WithdrawnError` if `is_wanted` says so."""
        while not self._is_over:
            self._look()
            self._hand_out()
            if all(place.is_idle for place in self._places):
                return
            for place in self._wait():
                for task, result, fits in place.outcomes():
                    self._agenda.finish(task, fits)
                    self._hand_out()  # before the result is stored, so that no worker waits for that
                    yield task.trial, result

    def close(self) -> None:
        """End all workers."""
        for place in self._places:
            place.close()
        end = time.monotonic() + _PATIENCE
        for place in self._places:
            # A keeper that is still importing hears later that it should end; a budget does not wait for that.
            place.join(None if self.budget is None else end - time.monotonic())

    @property
    def _is_over(self) -> bool:
        return self.budget is not None and self.budget.is_over

    def _look(self) -> None:
        if time.monotonic() < self._next_look:
            return
        if self.is_wanted is not None and not self.is_wanted():
            raise WithdrawnError
        if self.follow is not None:
            self.follow([running for place in self._places if (running := place.running) is not None])
        self._next_look = time.monotonic() + _LOOK

    def _hand_out(self) -> None:
        for place in self._places:
            sets = self._order(place)
            if place.is_idle:
                task = next((task for owners in sets if (task := self._agenda.take(owners))), None)
            else:
                may_wait = place.accepts_more and sets[:1] == [place.owners]
                task = self._agenda.take(sets[0]) if may_wait else None
            if task is not None:
                place.submit(task)

    def _wait(self) -> list[Supervisor]:
        """Wait for an answer, the end of a worker or a deadline; return the places to look at."""
        channels = {id(channel): channel for place in self._places for channel in place.channels()}
        owners = {id(channel): place for place in self._places for channel in place.channels()}
        deadline = min(place.deadline for place in self._places)
        if self.budget is not None:
            deadline = min(deadline, self.budget.deadline)
        patience = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        if self.is_wanted is not None or self.follow is not None:
            patience = _LOOK if patience is None else min(patience, _LOOK)
        awake = {id(owners[id(channel)]) for channel in wait(channels.values(), patience)}
        now = time.monotonic()
        return [place for place in self._places if id(place) in awake or place.deadline <= now]

    def _order(self, place: Supervisor) -> list[Owners]:
        """Return the sets to take a trial from: its own first, unless the worker has served that long enough."""
        # With a budget, it must not get a round ahead of other sets either: all methods are to have the same folds.
        sets = self._agenda.sets()
        own = place.owners
        if own is None or own not in sets or place.may_change:
            return sets
        if self.budget is not None and self._agenda.first(own) - self._agenda.first(sets[0]) > self.budget.cells:
            return sets
        sets.sort(key=lambda owners: owners != own)
        return sets
