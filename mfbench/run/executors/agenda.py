"""The agenda: which trial runs next, where trials share selector fits and a worker serves certain plugins only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from mfbench.run.job import Job
from mfbench.run.owners import Owners
from mfbench.run.trial.folds import SharedFits
from mfbench.run.trial.steps import selector_key
from mfbench.trials import Trial


@dataclass
class Task:
    """A trial to run.

    Attributes
    ----------
    position : int
        Of the trial among all trials.
    trial : Trial
    owners : frozenset of str
        The distributions whose plugins its worker loads.
    shared : dict
        Selector fits of the same fold, from another trial.
    followers : deque of (position, trial)
        Trials that wait for the selector fit of this one.
    """

    position: int
    trial: Trial
    owners: Owners
    shared: SharedFits = field(default_factory=dict)
    followers: deque[tuple[int, Trial]] = field(default_factory=deque)


class Agenda:
    """The trials that have not been handed out yet.

    Trials that share a selector fit form a group: the first one runs alone, the others get its fits and run anywhere.
    A group lies within one set of distributions, so that no fit made by a third party's process reaches another set.

    Parameters
    ----------
    trials : iterable of Trial
    job : Job
    """

    def __init__(self, trials: Iterable[Trial], job: Job) -> None:
        self._waiting: dict[Owners, deque[Task]] = {}
        self._ready: dict[Owners, deque[Task]] = {}
        groups: dict[tuple[Owners, str, int, int, str], Task] = {}
        for position, trial in enumerate(trials):
            owners = job.owners_of(trial)
            key = selector_key(job.methods[trial.method])
            coordinates = (owners, trial.dataset, trial.repeat, trial.fold, key)
            if key and coordinates in groups:
                groups[coordinates].followers.append((position, trial))
                continue
            task = Task(position, trial, owners)
            self._waiting.setdefault(owners, deque()).append(task)
            if key:
                groups[coordinates] = task

    def sets(self) -> list[Owners]:
        """Return the sets of distributions that have trials left, the earliest trial's first."""
        owners = {owners for table in (self._ready, self._waiting) for owners, queue in table.items() if queue}
        return sorted(
            owners, key=lambda one: min(t[one][0].position for t in (self._ready, self._waiting) if t.get(one))
        )

    def take(self, owners: Owners) -> Task | None:
        """Hand out the next trial of a set, those first whose selector fits are there; None if it has none now."""
        for table in (self._ready, self._waiting):
            if table.get(owners):
                return table[owners].popleft()
        return None

    def finish(self, task: Task, fits: SharedFits) -> None:
        """Release the trials that waited for a trial which has ended.

        Parameters
        ----------
        task : Task
        fits : dict
            The selector fits that it left. If there are none because it was killed, the next trial leads.
        """
        queue = self._ready.setdefault(task.owners, deque())
        if not task.followers:
            return
        if fits:
            queue.extend(Task(position, trial, task.owners, fits) for position, trial in task.followers)
        else:
            position, trial = task.followers.popleft()
            queue.append(Task(position, trial, task.owners, {}, task.followers))
