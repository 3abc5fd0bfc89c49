"""Batches: the trials of a run cut into calls, tiny trials together, long ones alone.

Trials that share a selector fit stay in one batch, where the fit is made once. The order of the trials is kept.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mfbench.model.trials import Trial
from mfbench.run.trial.steps import selector_key
from mfbench.run.workers.job import Job, Owners
from mfbench_cluster.pool.messages import PIECE, Piece, PieceReceived

SECONDS = 0.25  # of predicted work in a batch
MOST = 200  # trials in a batch

# The predicted seconds of a trial; NaN if nothing is known about it.
Cost = Callable[[Trial], float]


def unknown(trial: Trial) -> float:
    """Predict nothing."""
    return math.nan


@dataclass(eq=False)
class Batch:
    """Trials that are sent together."""

    trials: list[Trial]
    losses: int = 0  # how often a worker was lost that may have been running them


class Batches:
    """The trials that have not been sent yet."""

    def __init__(self, trials: Iterable[Trial], job: Job, cost: Cost = unknown) -> None:
        self._cost = cost
        self._observed: dict[tuple[str, str], tuple[float, int]] = {}
        self._again: deque[Batch] = deque()
        # By the plugins that a worker must load: groups of trials that share a fit.
        self._waiting: dict[Owners, deque[tuple[int, list[Trial]]]] = {}
        groups: dict[tuple[object, ...], list[Trial]] = {}
        keys = {label: selector_key(method) for label, method in job.methods.items()}
        for position, trial in enumerate(trials):
            owners, key = job.owners_of(trial), keys[trial.method]
            coordinates = (owners, trial.dataset, trial.repeat, trial.fold, key) if key else (position,)
            group = groups.setdefault(coordinates, [])
            if not group:
                self._waiting.setdefault(owners, deque()).append((position, group))
            group.append(trial)

    def __bool__(self) -> bool:
        return bool(self._again) or any(self._waiting.values())

    def next(self) -> Batch | None:
        """Return the next batch; None if all trials have been sent."""
        if self._again:
            return self._again.popleft()
        queues = [queue for queue in self._waiting.values() if queue]
        if not queues:
            return None
        queue = min(queues, key=lambda one: one[0][0])
        trials = list(queue.popleft()[1])
        seconds = self._seconds(trials)
        while queue and len(trials) + len(queue[0][1]) <= MOST:
            seconds += self._seconds(queue[0][1])
            if not seconds <= SECONDS:
                break
            trials += queue.popleft()[1]
        return Batch(trials)

    def repeat(self, batch: Batch) -> None:
        """Send a batch again, before the others; one that was lost twice is split into single trials."""
        if batch.losses >= 2:
            self._again.extend(Batch([trial], batch.losses) for trial in batch.trials)
        else:
            self._again.append(batch)

    def observe(self, trial: Trial, seconds: float) -> None:
        """Learn how long a trial took; NaN if that is not known."""
        if not math.isnan(seconds):
            total, count = self._observed.get((trial.dataset, trial.method), (0.0, 0))
            self._observed[trial.dataset, trial.method] = (total + seconds, count + 1)

    def _seconds(self, trials: list[Trial]) -> float:
        return sum(map(self._predicted, trials))

    def _predicted(self, trial: Trial) -> float:
        seconds = self._cost(trial)
        if math.isnan(seconds):
            total, count = self._observed.get((trial.dataset, trial.method), (0.0, 0))
            seconds = total / count if count else SECONDS
        return seconds


# Transfers at once: each has one piece in the memory of the driver.
AT_ONCE = 8
# A machine that receives a file so often and still lacks it cannot keep it.
MOST_TIMES = 5


@dataclass(eq=False)
class Transfer:
    """A file on its way."""

    cache: str  # the cache of the machine that gets it
    worker: str  # the worker that the pieces are sent to
    name: str  # SHA-256 of the file
    offset: int = 0
    waiting: list[Batch] = field(default_factory=list)  # the batches that need it


class Transfers:
    """What is on its way, and what waits for its turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue: deque[Transfer] = deque()
        self._open: dict[tuple[str, str], Transfer] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        # What has arrived, with the ticket of the last call before that.
        self._arrived: dict[tuple[str, str], int] = {}
        self._n_active = 0

    def request(self, cache: str, worker: str, name: str, batch: Batch | None) -> bool:
        """Ask for a file to be sent; a batch waits for it. Return False if the machine keeps losing it."""
        transfer = self._open.get((cache, name))
        if transfer is None:
            self._times[cache, name] += 1
            if self._times[cache, name] > MOST_TIMES:
                return False
            transfer = self._open[cache, name] = Transfer(cache, worker, name)
            self._queue.append(transfer)
        if batch is not None:
            transfer.waiting.append(batch)
        return True

    def has_arrived_since(self, cache: str, name: str, ticket: int) -> bool:
        """Tell whether a file has arrived after a call was sent, whose answer then says nothing about it."""
        return self._arrived.get((cache, name), -1) >= ticket

    def start(self) -> Iterator[Transfer]:
        """Yield the transfers whose turn it is."""
        while self._queue and self._n_active < AT_ONCE:
            self._n_active += 1
            yield self._queue.popleft()

    def piece(self, transfer: Transfer) -> Piece:
        """Return the next piece of a transfer."""
        with (self._folder / transfer.name).open("rb") as file:
            total = file.seek(0, 2)
            file.seek(transfer.offset)
            return Piece(transfer.name, transfer.offset, total, file.read(PIECE))

    def advance(self, transfer: Transfer, answer: PieceReceived) -> bool:
        """Note how far a transfer has come; return False if it must begin again too often."""
        if answer.n_bytes == 0:
            self._times[transfer.cache, transfer.name] += 1
        transfer.offset = answer.n_bytes
        return self._times[transfer.cache, transfer.name] <= MOST_TIMES

    def arrive(self, transfer: Transfer, ticket: int) -> None:
        """Note that a file has arrived, and the ticket of the last call so far."""
        self._arrived[transfer.cache, transfer.name] = ticket

    def end(self, transfer: Transfer) -> list[Batch]:
        """Take a transfer out, whether or not it has arrived; return the batches that waited for it."""
        if self._open.pop((transfer.cache, transfer.name), None) is None:
            return []
        self._n_active -= 1
        return transfer.waiting

    def forget(self, worker: str) -> list[Batch]:
        """Take out what waits to be sent to a worker that is no longer used; return the batches that waited."""
        gone = [transfer for transfer in self._queue if transfer.worker == worker]
        for transfer in gone:
            self._queue.remove(transfer)
            del self._open[transfer.cache, transfer.name]
        return [batch for transfer in gone for batch in transfer.waiting]
