"""The local pool: it runs trials in worker processes of this machine, limits them and survives their crashes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from types import TracebackType

from mfbench.isolation.channel import wait
from mfbench.isolation.log import make_room
from mfbench.run.executors.agenda import Agenda
from mfbench.run.executors.base import Executor
from mfbench.run.job import Job
from mfbench.run.owners import Owners
from mfbench.run.supervisor import Supervisor
from mfbench.trials import Trial, TrialResult


class LocalPool(Executor):
    """Run trials in worker processes of this machine.

    Trials that share a selector fit form a group: the first one runs alone, the others get its fits and run anywhere.
    A trial that exceeds its time limit is killed; if a worker dies, only its own trial is lost. A worker loads the
    plugins of one set of distributions, besides the built-in ones, and runs only their trials.

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
        self._places: list[Supervisor] = []

    def __enter__(self) -> LocalPool:
        if self.job.log is not None:
            make_room(self.job.log)
        self._places = [Supervisor(self.job, self.timeout) for _ in range(self.jobs)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self._places:
            place.close()
        for place in self._places:
            place.join()

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends, in any order.

        Raises
        ------
        RunError
            If the workers cannot start.
        """
        agenda = Agenda(trials, self.job)
        while True:
            self._hand_out(agenda)
            if all(place.is_idle for place in self._places):
                return
            for place in self._wait():
                for task, result, fits in place.outcomes():
                    agenda.finish(task, fits)
                    self._hand_out(agenda)  # before the result is stored, so that no worker waits for that
                    yield task.trial, result

    def _hand_out(self, agenda: Agenda) -> None:
        for place in self._places:
            sets = _order(agenda, place)
            if place.is_idle:
                task = next((task for owners in sets if (task := agenda.take(owners))), None)
            else:
                may_wait = place.accepts_more and sets[:1] == [place.owners]
                task = agenda.take(sets[0]) if may_wait else None
            if task is not None:
                place.submit(task)

    def _wait(self) -> list[Supervisor]:
        """Wait for an answer, the end of a worker or a deadline; return the places to look at."""
        channels = {id(channel): channel for place in self._places for channel in place.channels()}
        owners = {id(channel): place for place in self._places for channel in place.channels()}
        deadline = min(place.deadline for place in self._places)
        patience = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
        awake = {id(owners[id(channel)]) for channel in wait(channels.values(), patience)}
        now = time.monotonic()
        return [place for place in self._places if id(place) in awake or place.deadline <= now]


def _order(agenda: Agenda, place: Supervisor) -> list[Owners]:
    """Return the sets to take a trial from: its own first, unless the worker has served that long enough."""
    sets = agenda.sets()
    if place.owners in sets and not place.may_change:
        sets.sort(key=lambda owners: owners != place.owners)
    return sets
