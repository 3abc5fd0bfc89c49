"""The remote pool: runs trials on an engine's workers, and yields each exactly once despite any losses."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from mfbench.engines import CallOutcome, Engine, Executor, Follow
from mfbench.errors import MfbenchError, RunError, describe_error
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.forecast.order import Budget, duration_text
from mfbench.run.store.metadata import Fingerprint
from mfbench.run.workers.job import Job
from mfbench.run.workers.supervisor import failed
from mfbench_cluster.pool.batches import Batch, Batches, Cost, Transfer, Transfers, unknown
from mfbench_cluster.pool.messages import (
    Accepted,
    Answered,
    JobPackage,
    MessageError,
    Missing,
    PieceReceived,
    Refused,
    RunBatch,
    Withdrawn,
    packed,
    unpacked,
)

ATTEMPTS = 3  # lost handshakes after which a worker that is still present is excluded
_SHOWN = 10
# Seconds before warning that no worker runs trials: without any worker, and while workers are starting.
_SILENT, _STARTING = 5.0, 30.0
CONTINUE = "the results so far are stored: repeat the command to continue"


@dataclass
class Workers:
    """The workers as seen by the driver."""

    notify: Callable[[str], None]  # shows a sentence to the user
    patience: float  # seconds to wait for a worker
    present: Mapping[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)  # with the last ticket at that time
    avoided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _losses: Counter[str] = field(default_factory=Counter)
    _alone_since: float | None = None
    _has_complained: bool = False
    slots: int = 0
    barred: frozenset[str] = frozenset()

    def update(self, present: Mapping[str, int], now: float) -> list[str]:
        """Update the current workers; return those that need a handshake."""
        for worker in set(self.present) - set(present):  # another process may appear under the same name
            self.accepted.pop(worker, None)
            self._asked.discard(worker)
            self._losses.pop(worker, None)
            self.avoided.pop(worker, None)
        self.present = dict(present)
        self._count()
        self._check(now)
        strangers = [worker for worker in present if worker not in self._asked and worker not in self.avoided]
        self._asked.update(strangers)
        return strangers

    def accept(self, worker: str, ticket: int) -> None:
        """Use a worker that has the job, unless it is gone or excluded."""
        if worker in self.present and worker not in self.avoided:
            self.accepted[worker] = ticket
            self._alone_since = None
            self._count()

    def forget(self, worker: str, ticket: int) -> None:
        """Repeat the handshake of a worker that reports the job missing, unless its call predates the handshake."""
        if self.accepted.get(worker, ticket) < ticket:
            del self.accepted[worker]
            self._asked.discard(worker)
            self._count()

    def avoid(self, worker: str, reasons: tuple[str, ...]) -> None:
        """Exclude a worker from now on, and warn the user once."""
        self.accepted.pop(worker, None)
        if worker not in self.avoided:
            self.avoided[worker] = reasons
            self.notify(f"{worker} is not used: {'; '.join(reasons)}")
        self._count()

    def lose(self, worker: str, reason: str) -> None:
        """Record a lost handshake; a worker that is present but does not respond is excluded."""
        self._losses[worker] += 1
        self._asked.discard(worker)
        if self._losses[worker] >= ATTEMPTS and worker in self.present:
            self.avoid(worker, (f"it does not answer ({reason})",))

    def _count(self) -> None:
        self.slots = sum(self.present.get(worker, 0) for worker in self.accepted)
        self.barred = frozenset(self.avoided).union(worker for worker in self.present if worker not in self.accepted)

    def _check(self, now: float) -> None:
        if self.accepted:
            return
        if self.present and all(worker in self.avoided for worker in self.present):
            listed = [f"{worker}: {'; '.join(reasons)}" for worker, reasons in list(self.avoided.items())[:_SHOWN]]
            more = [f"… and {len(self.avoided) - _SHOWN} more"] if len(self.avoided) > _SHOWN else []
            raise RunError("\n".join([f"no worker can run the trials; {CONTINUE}", *listed, *more]))
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since >= self.patience:
            raise RunError(f"no worker has come within {duration_text(self.patience)}; {CONTINUE}")
        silent = _STARTING if self.present else _SILENT
        if not self._has_complained and now - self._alone_since >= min(silent, self.patience / 2):
            self._has_complained = True
            lack = "no worker has answered yet" if self.present else "there is no worker"
            self.notify(f"{lack}; waiting for {duration_text(self.patience)} at most")


# Calls in flight per worker slot, so that a worker never waits for the driver.
WINDOW = 8
# A trial whose workers were lost this often may be what kills them.
MOST_LOSSES = 5
PATIENCE = 300.0
_WAIT = 1.0  # timeout in seconds for waiting on the engine, and interval between polls of the workers

# The content of a call: trials, a piece of a file, or the handshake of the worker with this name.
Purpose = Batch | Transfer | str


class RunWarning(UserWarning):
    """Something that the user should know about a run in progress."""


def warn(sentence: str) -> None:
    """Show a sentence to the user."""
    warnings.warn(sentence, RunWarning, stacklevel=2)


class RemotePool(Executor):
    """Runs trials on the workers of an engine."""

    # Each trial runs at least once and is yielded exactly once: lost calls are sent again, and duplicate answers are
    # dropped. Workers with different code never receive trials.

    budget: Budget | None = None
    follow: Follow | None = None

    def __init__(
        self,
        engine: Engine,
        fingerprint: Fingerprint,
        *,
        cost: Cost = unknown,
        notify: Callable[[str], None] = warn,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.engine = engine
        self._cost, self._clock, self._fingerprint = cost, clock, fingerprint
        self._workers = Workers(notify, patience)
        self._sent: dict[int, Purpose] = {}
        self._ticket = self._n_calls = 0
        self._next_look = float("-inf")
        self.machines: dict[str, str] = {}
        self._lost_now: Counter[str] = Counter()

    def start(self, job: Job, budget: Budget | None = None, follow: Follow | None = None) -> None:
        """Enter the engine; workers that cannot read the array folder receive the files by transfer."""
        self.job, self.budget, self.follow = job, budget, follow
        package = JobPackage.of(job, self._fingerprint)
        self._job_name, self._handshake = package.name, packed(package)
        self._transfers = Transfers(job.data_folder)
        with _explained():
            self.engine.__enter__()

    def submit(self, trials: Iterable[Trial]) -> None:
        """Accept trials, in the order in which to run them."""
        trials = list(trials)
        self._open = {trial.key: trial for trial in trials}
        self._batches = Batches(trials, self.job, self._cost)

    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends; raise `RunError` if no worker can run trials."""
        while self._open and not (self.budget is not None and self.budget.is_over):
            self._look()
            self._fill()
            patience = _WAIT if self.budget is None else min(_WAIT, self.budget.remaining)
            with _explained():
                outcomes = sorted(self.engine.wait(patience), key=lambda one: one.ticket)
            if self.follow is not None:
                self.follow([])  # only the worker knows which trial of a batch is running
            self._lost_now.clear()
            for outcome in outcomes:
                yield from self._take(outcome)
                self._fill()  # refill before the next result is stored, so that no worker idles meanwhile

    def close(self) -> None:
        """Cancel the calls in flight, and leave the engine."""
        error = sys.exc_info()  # the exception that ends the run, if any
        try:
            self.engine.withdraw(list(self._sent))
        finally:
            self.engine.__exit__(*error)

    # -- sending ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        now = self._clock()
        if now < self._next_look:
            return
        self._next_look = now + _WAIT
        with _explained():
            present = self.engine.workers()
        for worker in self._workers.update(present, now):
            self._submit(worker, self._handshake, worker)

    def _fill(self) -> None:
        """Send as many calls as the workers have capacity for."""
        for transfer in self._transfers.start():
            self._send_piece(transfer)
        while self._n_calls < WINDOW * self._workers.slots:
            batch = self._batches.next()
            if batch is None:
                return
            batch.trials = [trial for trial in batch.trials if trial.key in self._open and self._has_time_for(trial)]
            if batch.trials:
                self._n_calls += 1
                labels = dict.fromkeys(trial.dataset for trial in batch.trials)
                arrays = dict.fromkeys(name for label in labels for name in self.job.files[label])
                message = RunBatch(self._job_name, tuple(arrays), str(self.job.data_folder), tuple(batch.trials))
                self._submit(batch, packed(message))

    def _has_time_for(self, trial: Trial) -> bool:
        """Return whether the budget admits a trial; drop the trial if not."""
        if self.budget is None or self.budget.admits(trial):
            return True
        del self._open[trial.key]
        return False

    def _send_piece(self, transfer: Transfer) -> None:
        self._submit(transfer, packed(self._transfers.piece(transfer)), transfer.worker)

    def _submit(self, purpose: Purpose, payload: bytes, worker: str = "") -> None:
        self._ticket += 1
        self._sent[self._ticket] = purpose
        with _explained():
            avoid = self._workers.barred if not worker else frozenset[str]()
            self.engine.submit(self._ticket, payload, worker=worker, avoid=avoid)

    # -- answers ----------------------------------------------------------------------------------------------------

    def _take(self, outcome: CallOutcome) -> Iterator[tuple[Trial, TrialResult]]:
        purpose = self._sent.pop(outcome.ticket, None)
        if isinstance(purpose, Batch):
            self._n_calls -= 1
        if outcome.answer is None:
            yield from self._lost(purpose, outcome)
            return
        try:
            message = unpacked(outcome.answer)
        except MessageError as error:
            message = Refused((str(error),))
        if isinstance(message, Answered):
            yield from self._results(purpose, message, outcome)
        elif isinstance(message, Refused) and outcome.worker:
            self._avoid(outcome.worker, message.reasons)
            self._again(purpose)
        elif isinstance(purpose, str) and isinstance(message, Accepted):
            self._workers.accept(purpose, self._ticket)
        elif isinstance(purpose, Transfer) and isinstance(message, PieceReceived):
            self._received(purpose, message)
        elif isinstance(purpose, Batch) and isinstance(message, Missing) and outcome.worker:
            self._missing(purpose, message, outcome)
        elif isinstance(message, Withdrawn):  # withdrawn by a worker that is shutting down
            self._again(purpose)
        else:
            yield from self._lost(purpose, replace(outcome, answer=None, reason="it answered with no result"))

    def _results(
        self, purpose: Purpose | None, message: Answered, outcome: CallOutcome
    ) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield the results that are still open; answers to calls already reported as lost count too."""
        self.machines.setdefault(message.machine.host, message.machine.kind)
        for result in message.results:
            trial = self._open.pop(result.key, None) if isinstance(result, TrialResult) else None
            if trial is not None:
                self._batches.observe(trial, result.duration)
                yield trial, result
        if isinstance(purpose, Batch) and any(trial.key in self._open for trial in purpose.trials):
            yield from self._lost(purpose, replace(outcome, answer=None, reason="its answer is not complete"))

    def _received(self, transfer: Transfer, answer: PieceReceived) -> None:
        if not answer.is_complete and self._transfers.advance(transfer, answer):
            self._send_piece(transfer)
            return
        if answer.is_complete:
            self._transfers.arrive(transfer, self._ticket)
        else:
            self._avoid(transfer.worker, ("what it receives is damaged every time",))
        self._again(transfer)

    def _missing(self, batch: Batch, message: Missing, outcome: CallOutcome) -> None:
        worker, cache = outcome.worker, message.machine.cache
        if message.job:
            self._workers.forget(worker, outcome.ticket)
            self._next_look = float("-inf")
        names = [name for name in message.arrays if not self._transfers.has_arrived_since(cache, name, outcome.ticket)]
        for name in names[1:]:
            self._transfers.request(cache, worker, name, None)
        if not names:
            self._batches.repeat(batch)
        elif not self._transfers.request(cache, worker, names[0], batch):
            self._avoid(worker, ("it does not keep what it is sent: its array cache is too small or damaged",))
            self._batches.repeat(batch)

    def _again(self, purpose: Purpose | None) -> None:
        """Resend the content of a call, without counting it as lost."""
        if isinstance(purpose, Batch):
            self._batches.repeat(purpose)
        elif isinstance(purpose, Transfer):
            for batch in self._transfers.end(purpose):
                self._batches.repeat(batch)

    def _avoid(self, worker: str, reasons: tuple[str, ...]) -> None:
        self._workers.avoid(worker, reasons)
        for batch in self._transfers.forget(worker):
            self._batches.repeat(batch)
        self._next_look = float("-inf")

    def _lost(self, purpose: Purpose | None, outcome: CallOutcome) -> Iterator[tuple[Trial, TrialResult]]:
        self._next_look = float("-inf")
        if isinstance(purpose, str):
            self._workers.lose(purpose, outcome.reason)
        if not isinstance(purpose, Batch):
            self._again(purpose)
            return
        purpose.losses += self._was_running(outcome)
        if purpose.losses < MOST_LOSSES or len(purpose.trials) > 1:
            self._batches.repeat(purpose)
            return
        reason = f"the worker that ran the trial was lost {purpose.losses} times, at last because {outcome.reason}"
        for trial in purpose.trials:
            if self._open.pop(trial.key, None) is not None:
                yield trial, failed(trial, Status.CRASH, "ProcessExpired", reason)

    def _was_running(self, outcome: CallOutcome) -> bool:
        """Return whether a lost call may have been running: workers start their calls in ticket order."""
        if outcome.worker and outcome.worker not in self._workers.accepted:
            return False  # it never worked, or is excluded by now
        name = outcome.worker or outcome.reason
        self._lost_now[name] += 1
        return self._lost_now[name] <= max(1, self._workers.present.get(outcome.worker, 1))


@contextmanager
def _explained() -> Iterator[None]:
    """Turn engine errors into one sentence."""
    try:
        yield
    except MfbenchError:
        raise
    except Exception as error:
        raise RunError(f"the executor failed with {describe_error(error)}; {CONTINUE}") from error
