"""The trial queue: what runs next, given shared selector fits and workers that serve some plugins only."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.run.trial.folds import SharedFits
from mfbench.run.trial.steps import selector_key
from mfbench.run.workers.job import Job, Owners, owners_of_method
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.plan import Plan

# Distributions of the method, dataset, repeat, fold and selector.
FitGroup = tuple[Owners, str, int, int, str]


def fit_group(trial: Trial, method: ResolvedMethod, owners: Owners) -> FitGroup | None:
    """Return the group key of trials that share a selector fit; None for a trial without a selector."""
    key = selector_key(method)
    return (owners, trial.dataset, trial.repeat, trial.fold, key) if key else None


def fit_groups(plan: Plan, registry: Registry) -> Callable[[Trial], FitGroup | None]:
    """Return a function that maps each trial of a plan to its group."""
    owners = {label: owners_of_method(method, registry) for label, method in plan.methods.items()}
    return lambda trial: fit_group(trial, plan.methods[trial.method], owners[trial.method])


@dataclass
class QueuedTrial:
    """A trial to run."""

    position: int  # the trial's position among all trials
    trial: Trial
    owners: Owners  # the distributions whose plugins its worker loads
    shared: SharedFits = field(default_factory=dict)  # selector fits of the same fold from another trial
    # Trials that wait for this trial's selector fit.
    followers: deque[tuple[int, Trial]] = field(default_factory=deque)


class TrialQueue:
    """The trials that have not been sent to a worker."""

    # Trials that share a selector fit form a group: the first one runs alone, then the others get its fits and run on
    # any worker. A group lies within one set of distributions, so that fits from a third party's process never reach
    # another set.

    def __init__(self, trials: Iterable[Trial], job: Job, admits: Callable[[Trial], bool] | None = None) -> None:
        self._admits = admits
        # Each set of distributions has one queue for trials with available selector fits, and one for the rest.
        self._ready: dict[Owners, deque[QueuedTrial]] = {}
        self._waiting: dict[Owners, deque[QueuedTrial]] = {}
        groups: dict[FitGroup, QueuedTrial] = {}
        for position, trial in enumerate(trials):
            owners = job.owners_of(trial)
            group = fit_group(trial, job.methods[trial.method], owners)
            if group is not None and group in groups:
                groups[group].followers.append((position, trial))
                continue
            task = QueuedTrial(position, trial, owners)
            self._waiting.setdefault(owners, deque()).append(task)
            if group is not None:
                groups[group] = task

    def sets(self) -> list[Owners]:
        """Return the sets of distributions with trials left, ordered by their first trial."""
        return sorted((owners for owners in self._waiting if any(self._queues(owners))), key=self.first)

    def first(self, owners: Owners) -> int:
        """Return the position of the first remaining trial of a set."""
        return min(queue[0].position for queue in self._queues(owners) if queue)

    def take(self, owners: Owners) -> QueuedTrial | None:
        """Take the next trial of a set, preferring available selector fits; None if no trial is ready."""
        for queue in self._queues(owners):
            while queue:
                task = queue.popleft()
                if self._admits is None or self._admits(task.trial):
                    return task
                if task.followers:  # the next one may take less time
                    queue.appendleft(_led_by_the_next(task))
        return None

    def finish(self, task: QueuedTrial, fits: SharedFits) -> None:
        """Release the trials that waited for a finished trial."""
        ready = self._ready.setdefault(task.owners, deque())
        if fits:
            ready.extend(QueuedTrial(*follower, task.owners, fits) for follower in task.followers)
        elif task.followers:
            ready.append(_led_by_the_next(task))

    def _queues(self, owners: Owners) -> list[deque[QueuedTrial]]:
        return [queues[owners] for queues in (self._ready, self._waiting) if owners in queues]


def _led_by_the_next(task: QueuedTrial) -> QueuedTrial:
    """Return the task of the first follower, with the others as its followers."""
    position, trial = task.followers.popleft()
    return QueuedTrial(position, trial, task.owners, {}, task.followers)
