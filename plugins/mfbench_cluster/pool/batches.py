"""Batches: group the trials of a run into calls (short trials together, long ones alone), and schedule transfers.

Trials that share a selector fit stay in one batch, so that the fit is computed once. The order of trials is kept.
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

SECONDS = 0.25  # predicted seconds of work per batch
MOST = 200  # maximum number of trials per batch

# The predicted seconds of a trial; NaN if unknown.
Cost = Callable[[Trial], float]


def unknown(trial: Trial) -> float:
    """Predict nothing."""
    return math.nan


@dataclass(eq=False)
class Batch:
    """Trials that are sent together."""

    trials: list[Trial]
    losses: int = 0  # how often a worker that may have been running them was lost


class Batches:
    """The trials that have not been sent yet."""

    def __init__(self, trials: Iterable[Trial], job: Job, cost: Cost = unknown) -> None:
        self._cost = cost
        self._observed: dict[tuple[str, str], tuple[float, int]] = {}
        self._again: deque[Batch] = deque()
        # Groups of trials that share a fit, by the plugins that a worker must load.
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
        """Requeue a batch, ahead of the unsent ones; one that was lost twice is split into single trials."""
        if batch.losses >= 2:
            self._again.extend(Batch([trial], batch.losses) for trial in batch.trials)
        else:
            self._again.append(batch)

    def observe(self, trial: Trial, seconds: float) -> None:
        """Learn from the duration of a trial; NaN if unknown."""
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


# Concurrent transfers: each holds one piece in the driver's memory.
AT_ONCE = 8
# A machine that has received a file this often and still lacks it cannot keep it.
MOST_TIMES = 5


@dataclass(eq=False)
class Transfer:
    """The transfer of a file to a machine."""

    cache: str  # the receiving machine's cache
    worker: str  # the worker that receives the pieces
    name: str  # SHA-256 checksum of the file
    offset: int = 0
    waiting: list[Batch] = field(default_factory=list)  # the batches that need the file


class Transfers:
    """Active and queued transfers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue: deque[Transfer] = deque()
        self._open: dict[tuple[str, str], Transfer] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        # The files that have arrived, with the last ticket at that time.
        self._arrived: dict[tuple[str, str], int] = {}
        self._n_active = 0

    def request(self, cache: str, worker: str, name: str, batch: Batch | None) -> bool:
        """Queue a file transfer and let a batch wait for it; return False if the machine keeps losing the file."""
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
        """Return whether a file arrived after a call was sent, which makes the call's answer obsolete."""
        return self._arrived.get((cache, name), -1) >= ticket

    def start(self) -> Iterator[Transfer]:
        """Yield the transfers to start now."""
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
        """Record a transfer's progress; return False if it had to restart too often."""
        if answer.n_bytes == 0:
            self._times[transfer.cache, transfer.name] += 1
        transfer.offset = answer.n_bytes
        return self._times[transfer.cache, transfer.name] <= MOST_TIMES

    def arrive(self, transfer: Transfer, ticket: int) -> None:
        """Record the arrival of a file, with the latest ticket."""
        self._arrived[transfer.cache, transfer.name] = ticket

    def end(self, transfer: Transfer) -> list[Batch]:
        """Remove a transfer, complete or not, and return the batches that waited for it."""
        if self._open.pop((transfer.cache, transfer.name), None) is None:
            return []
        self._n_active -= 1
        return transfer.waiting

    def forget(self, worker: str) -> list[Batch]:
        """Remove the queued transfers to an excluded worker, and return the batches that waited for them."""
        gone = [transfer for transfer in self._queue if transfer.worker == worker]
        for transfer in gone:
            self._queue.remove(transfer)
            del self._open[transfer.cache, transfer.name]
        return [batch for transfer in gone for batch in transfer.waiting]
