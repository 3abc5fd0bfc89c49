"""The remote pool: it runs trials at the places of an engine, and yields each exactly once, whatever is lost."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mfbench.engines import Engine, Executor, Follow, Outcome
from mfbench.errors import MfbenchError, RunError, describe_error
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.fingerprint import Fingerprint
from mfbench.run.forecast.budget import Budget
from mfbench.run.workers.job import Job
from mfbench.run.workers.supervisor import failed
from mfbench_cluster.parcel import wrapped
from mfbench_cluster.pool.batches import Batches, Call, Cost, unknown
from mfbench_cluster.pool.deliveries import Deliveries, Delivery
from mfbench_cluster.pool.messages import (
    Answered,
    Batch,
    Delivered,
    Introduce,
    Introduction,
    MessageError,
    Missing,
    Refused,
    Unable,
    Withdrawn,
    packed,
    unpacked,
)
from mfbench_cluster.pool.places import CONTINUE, Places

# Calls under way for each that a place runs at once: no place waits for the driver.
WINDOW = 8
# A trial whose places were lost so often may be what kills them.
MOST_LOSSES = 5
PATIENCE = 300.0
_WAIT = 1.0  # seconds for which the engine is waited for, and between two looks at the places


class RunWarning(UserWarning):
    """Something about a run that its user should know while it goes on."""


def warn(sentence: str) -> None:
    """Show a sentence to the user."""
    warnings.warn(sentence, RunWarning, stacklevel=2)


@dataclass(frozen=True)
class _Introducing:
    """A call that asks a place to introduce itself."""

    place: str


class RemotePool(Executor):
    """Run trials at the places of an engine."""

    # Each trial runs at least once and is yielded exactly once: calls that are lost are sent again, and a second answer
    # is dropped. A place with other code is never sent trials.

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
        self._introduction = packed(Introduce(fingerprint))
        self._places = Places(notify, patience)
        self._sent: dict[int, Call | Delivery | _Introducing] = {}
        self._ticket = self._n_calls = 0
        self._next_look = float("-inf")
        self.machines: dict[str, str] = {}
        self._lost_now: Counter[str] = Counter()

    def start(self, job: Job, budget: Budget | None = None, follow: Follow | None = None) -> None:
        """Enter the engine; the folder of arrays is offered to the places, and sent to those that cannot read it."""
        self.job, self.budget, self.follow = job, budget, follow
        self._name, blob = wrapped(job, self._fingerprint)
        self._deliveries = Deliveries(job, blob)
        with _explained():
            self.engine.__enter__()

    def submit(self, trials: Iterable[Trial]) -> None:
        """Take trials, in the order in which to run them."""
        trials = list(trials)
        self._open = {trial.key: trial for trial in trials}
        self._batches = Batches(trials, self.job, self._cost)

    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends; raise `RunError` if no place can run any or the engine fails."""
        while self._open and not (self.budget is not None and self.budget.is_over):
            self._look()
            self._fill()
            patience = _WAIT if self.budget is None else min(_WAIT, self.budget.remaining)
            with _explained():
                outcomes = sorted(self.engine.wait(patience), key=lambda one: one.ticket)
            if self.follow is not None:
                self.follow([])  # which trials of a batch run is known at its place alone
            self._lost_now.clear()
            for outcome in outcomes:
                yield from self._take(outcome)
                self._fill()  # before the next result is stored, so that no place waits for that

    def close(self) -> None:
        """Give up what is under way, and leave the engine."""
        error = sys.exc_info()  # which ends the run, if any
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
            present = self.engine.places()
        for place in self._places.look(present, now):
            self._submit(_Introducing(place), self._introduction, place)

    def _fill(self) -> None:
        """Send as many calls as the places have room for."""
        for delivery in self._deliveries.start():
            self._send_piece(delivery)
        while self._n_calls < WINDOW * self._places.slots:
            call = self._batches.next()
            if call is None:
                return
            call.trials = [trial for trial in call.trials if trial.key in self._open and self._has_time_for(trial)]
            if call.trials:
                self._n_calls += 1
                self._submit(call, packed(self._batch(call)))

    def _has_time_for(self, trial: Trial) -> bool:
        """Tell whether the budget admits a trial; one that it does not is given up."""
        if self.budget is None or self.budget.admits(trial):
            return True
        del self._open[trial.key]
        return False

    def _batch(self, call: Call) -> Batch:
        labels = dict.fromkeys(trial.dataset for trial in call.trials)
        arrays = dict.fromkeys(name for label in labels for name in self.job.files[label])
        return Batch(self._name, tuple(arrays), str(self.job.data_folder), tuple(call.trials))

    def _send_piece(self, delivery: Delivery) -> None:
        self._submit(delivery, packed(self._deliveries.piece(delivery)), delivery.place)

    def _submit(self, purpose: Call | Delivery | _Introducing, payload: bytes, place: str = "") -> None:
        self._ticket += 1
        self._sent[self._ticket] = purpose
        with _explained():
            avoid = self._places.barred if not place else frozenset[str]()
            self.engine.submit(self._ticket, payload, place=place, avoid=avoid)

    # -- answers ----------------------------------------------------------------------------------------------------

    def _take(self, outcome: Outcome) -> Iterator[tuple[Trial, TrialResult]]:
        purpose = self._sent.pop(outcome.ticket, None)
        if isinstance(purpose, Call):
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
        elif isinstance(message, Refused | Unable) and outcome.place:
            self._avoid(outcome.place, message.reasons if isinstance(message, Refused) else (message.reason,))
            self._again(purpose)
        elif isinstance(purpose, _Introducing) and isinstance(message, Introduction):
            if self._places.accept(purpose.place, message.machine):
                self._deliveries.request(purpose.place, purpose.place, self._name, None, is_job=True)
        elif isinstance(purpose, Delivery) and isinstance(message, Delivered):
            self._delivered(purpose, message)
        elif isinstance(purpose, Call) and isinstance(message, Missing) and outcome.place:
            self._missing(purpose, message, outcome)
        elif isinstance(message, Withdrawn):  # by its place, which ends
            self._again(purpose)
        else:
            yield from self._lost(purpose, Outcome(outcome.ticket, None, outcome.place, "it answered with no result"))

    def _results(
        self, purpose: Call | Delivery | _Introducing | None, message: Answered, outcome: Outcome
    ) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield what has not been yielded; the answer to a call that was reported as lost counts as well."""
        self.machines.setdefault(message.machine.host, message.machine.kind)
        for result in message.results:
            trial = self._open.pop(result.key, None) if isinstance(result, TrialResult) else None
            if trial is not None:
                self._batches.observe(trial, result.duration)
                yield trial, result
        if isinstance(purpose, Call) and any(trial.key in self._open for trial in purpose.trials):
            yield from self._lost(purpose, Outcome(outcome.ticket, None, outcome.place, "its answer is not complete"))

    def _delivered(self, delivery: Delivery, answer: Delivered) -> None:
        if not answer.is_complete and self._deliveries.advance(delivery, answer):
            self._send_piece(delivery)
            return
        if answer.is_complete:
            self._deliveries.arrive(delivery, self._ticket)
        else:
            self._avoid(delivery.place, ("what it receives is damaged every time",))
        self._again(delivery)

    def _missing(self, call: Call, message: Missing, outcome: Outcome) -> None:
        place = outcome.place
        self._places.accept(place, message.machine)
        names, target = ((self._name,), place) if message.job else (message.arrays, message.machine.cache)
        names = tuple(name for name in names if not self._deliveries.has_arrived_since(target, name, outcome.ticket))
        for name in names[1:]:
            self._deliveries.request(target, place, name, None)
        if not names:
            self._batches.repeat(call)
        elif not self._deliveries.request(target, place, names[0], call, is_job=message.job):
            self._avoid(place, ("it does not keep what it is sent: its array cache is too small or damaged",))
            self._batches.repeat(call)

    def _again(self, purpose: Call | Delivery | _Introducing | None) -> None:
        """Send what a call was for again, without counting it as a loss."""
        if isinstance(purpose, Call):
            self._batches.repeat(purpose)
        elif isinstance(purpose, Delivery):
            for call in self._deliveries.end(purpose):
                self._batches.repeat(call)

    def _avoid(self, place: str, reasons: tuple[str, ...]) -> None:
        self._places.avoid(place, reasons)
        for call in self._deliveries.forget(place):
            self._batches.repeat(call)
        self._next_look = float("-inf")

    def _lost(
        self, purpose: Call | Delivery | _Introducing | None, outcome: Outcome
    ) -> Iterator[tuple[Trial, TrialResult]]:
        self._next_look = float("-inf")
        if isinstance(purpose, _Introducing):
            self._places.lose(purpose.place, outcome.reason)
        if not isinstance(purpose, Call):
            self._again(purpose)
            return
        purpose.losses += self._was_running(outcome)
        if purpose.losses < MOST_LOSSES or len(purpose.trials) > 1:
            self._batches.repeat(purpose)
            return
        for trial in purpose.trials:
            if self._open.pop(trial.key, None) is not None:
                reason = (
                    f"the place that ran the trial was lost {purpose.losses} times, at last because {outcome.reason}"
                )
                yield trial, failed(trial, Status.CRASH, "ProcessExpired", reason)

    def _was_running(self, outcome: Outcome) -> bool:
        """Tell whether a lost call may have been running: a place begins its calls in the order of their tickets."""
        if outcome.place and outcome.place not in self._places.accepted:
            return False  # it has never worked, or is avoided by now
        name = outcome.place or outcome.reason
        self._lost_now[name] += 1
        return self._lost_now[name] <= max(1, self._places.present.get(outcome.place, 1))


@contextmanager
def _explained() -> Iterator[None]:
    """Turn whatever an engine raises into one sentence."""
    try:
        yield
    except MfbenchError:
        raise
    except Exception as error:
        raise RunError(f"the executor failed with {describe_error(error)}; {CONTINUE}") from error
