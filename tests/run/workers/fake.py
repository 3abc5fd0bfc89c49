"""Engines for tests: one whose workers are threads and can be disturbed, one that simulates a whole cluster."""

import heapq
import random
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from mfbench.engines import CallOutcome, Engine, Executor
from mfbench.host.expressions import parse
from mfbench.model.evaluation import TaskSpec
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.metadata import fingerprint_of
from mfbench.run.workers.job import Job, write_arrays
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.schema import ProtocolSettings
from mfbench_cluster.pool.messages import (
    Accepted,
    Answered,
    Piece,
    PieceReceived,
    RunBatch,
    WorkerMachine,
    packed,
    unpacked,
)
from mfbench_cluster.service import WorkerService
from mfbench_protocols.splits import RepeatedCV

FINGERPRINT = fingerprint_of(())
METHODS = {
    "alone": ResolvedMethod("alone", None, Step(parse("knn"), "classifier"), "all", ()),
    "shared-1": ResolvedMethod(
        "shared-1", Step(parse("variance"), "selector"), Step(parse("knn"), "classifier"), 1, ()
    ),
    "shared-2": ResolvedMethod(
        "shared-2", Step(parse("variance"), "selector"), Step(parse("knn"), "classifier"), 2, ()
    ),
}


def job_of(folder, datasets=("d",)):
    """A job with small arrays, which no test fits anything to."""
    folder.mkdir(exist_ok=True)
    files = {}
    for number, label in enumerate(datasets):
        data = SimpleNamespace(X=np.full((20, 3), float(number)), y=np.arange(20) % 2, weights=None, is_sparse=False)
        files[label] = write_arrays(SimpleNamespace(data=data), folder)
    settings = ProtocolSettings(folds=2, repeats=1)
    runner = "mfbench.run.trial.curve:PredictionRunner"
    return Job(METHODS, {}, files, folder, RepeatedCV(2, 1, 0), runner, settings, TaskSpec(name="any", summary=""))


def trials_of(n, datasets=("d",), methods=("alone",)):
    """Trials in the order of a plan: dataset, fold, method."""
    folds = -(-n // (len(datasets) * len(methods)))
    cells = [(dataset, fold, method) for dataset in datasets for fold in range(folds) for method in methods]
    return [
        Trial(f"{number * 2654435761 % 2**32:08x}{number:024x}", dataset, method, 0, fold, number)
        for number, (dataset, fold, method) in enumerate(cells[:n])
    ]


def fabricated(trial, duration=0.001):
    """The result of a trial: the same wherever and however often it runs, and different from that of any other."""
    return TrialResult(key=trial.key, scores={"accuracy": int(trial.key[:8], 16) / 16**8}, duration=duration)


class StubPool(Executor):
    """A pool without processes: for `monkeypatch.setattr("mfbench_cluster.service.LocalPool", StubPool)`."""

    def __init__(self, jobs=1):
        self.is_wanted = None

    def start(self, job, budget=None, follow=None):
        self.job = job

    def submit(self, trials):
        self.trials = list(trials)

    def collect(self):
        for trial in self.trials:
            for name in self.job.files[trial.dataset]:
                assert (self.job.data_folder / name).is_file(), "an array that a trial needs is not there"
            yield trial, fabricated(trial)

    def close(self):
        pass


class FakeWorker:
    """A worker of a `ThreadEngine`: it answers calls through a service of its own.

    Parameters
    ----------
    service : WorkerService
    slots : int
    """

    def __init__(self, service=None, slots=1):
        self.service, self.slots = service or WorkerService(), slots
        self.is_lost = False

    def answer(self, payload, is_wanted):
        return self.service.answer(payload, self.slots, is_wanted)


class ThreadEngine(Engine):
    """Runs calls in threads, and loses workers, repeats answers or falls silent as a test asks it to.

    Parameters
    ----------
    workers : dict of str to FakeWorker
    before_wait : callable or None
        Called with the engine at each `wait`: what disturbs it.
    repeats : bool
        Whether every answer comes twice.
    late : bool
        Whether a worker that was lost answers all the same, after its calls were reported as lost.
    """

    def __init__(self, workers, before_wait=None, *, repeats=False, late=False):
        self._workers = {}
        self._before_wait, self._repeats, self._late = before_wait, repeats, late
        self._changed = threading.Condition()
        self._queue = deque()
        self._running = {}
        self._unwanted = set()
        self._ended = []
        self._is_open = True
        self.is_cut = False
        self.n_waits = 0
        self.submitted = []
        for name, worker in workers.items():
            self.add(name, worker)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def workers(self):
        with self._changed:
            return {name: worker.slots for name, worker in self._workers.items()}

    def add(self, name, worker):
        with self._changed:
            self._workers[name] = worker
        for _ in range(worker.slots):
            threading.Thread(target=self._serve, args=(name, worker), daemon=True).start()

    def lose(self, name):
        """Lose a worker with the calls that run there."""
        with self._changed:
            worker = self._workers.pop(name)
            worker.is_lost = True
            for ticket, where in list(self._running.items()):
                if where is worker:
                    del self._running[ticket]
                    self._unwanted.add(ticket)
                    self._ended.append(CallOutcome(ticket, None, name, f"{name} was lost"))
            for call in [call for call in self._queue if call[2] == name]:
                self._queue.remove(call)
                self._ended.append(CallOutcome(call[0], None, name, f"{name} was lost"))
            self._changed.notify_all()

    def submit(self, ticket, payload, *, worker="", avoid=()):
        with self._changed:
            self.submitted.append((ticket, unpacked(payload), worker))
            if worker and worker not in self._workers:
                self._ended.append(CallOutcome(ticket, None, worker, f"{worker} was lost"))
            else:
                self._queue.append((ticket, payload, worker, frozenset(avoid)))
            self._changed.notify_all()

    def wait(self, seconds):
        self.n_waits += 1
        if self._before_wait is not None:
            self._before_wait(self)
        end = time.monotonic() + min(seconds, 0.05)
        with self._changed:
            while (self.is_cut or not self._ended) and time.monotonic() < end:
                self._changed.wait(0.005)
            if self.is_cut:
                return []
            ended, self._ended = self._ended, []
            return ended

    def withdraw(self, tickets):
        with self._changed:
            self._unwanted.update(tickets)
            self._queue = deque(call for call in self._queue if call[0] not in self._unwanted)

    def _serve(self, name, worker):
        while True:
            with self._changed:
                call = None
                while self._is_open and not worker.is_lost and (call := self._next(name)) is None:
                    self._changed.wait()
                if call is None:
                    return
                ticket, payload, _, _ = call
                self._running[ticket] = worker
            answer = worker.answer(payload, lambda ticket=ticket: ticket not in self._unwanted or self._late)
            with self._changed:
                if self._running.pop(ticket, None) is not None or self._late:
                    self._ended += [CallOutcome(ticket, answer, name)] * (2 if self._repeats else 1)
                self._changed.notify_all()

    def _next(self, name):
        for call in self._queue:
            if call[2] in ("", name) and name not in call[3]:
                self._queue.remove(call)
                return call
        return None


@dataclass(order=True)
class _Event:
    at: float
    ticket: int
    worker: int = field(compare=False)
    answer: bytes | None = field(compare=False)


class FakeEngine(Engine):
    """A cluster in virtual time: nothing runs and nobody sleeps; the time that the driver computes counts.

    Parameters
    ----------
    n_workers : int
    seconds : float
        That a trial takes.
    latencies : sequence of float
        Seconds from the end of a call to its answer, one of which is drawn for each call.
    loss : float
        Probability that a call is lost with its worker, which returns after `absence` seconds.
    seed : int
    """

    def __init__(self, n_workers, seconds=1.0, latencies=(0.005,), loss=0.0, absence=5.0, seed=0):
        self.n_workers, self._seconds, self._latencies = n_workers, seconds, latencies
        self._loss, self._absence, self._random = loss, absence, random.Random(seed)
        self.now, self.busy, self.driver_seconds, self.n_lost = 0.0, 0.0, 0.0, 0
        self._names = {f"w{number}": 1 for number in range(n_workers)}
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._idle = set(range(n_workers))
        self._own = [deque() for _ in range(n_workers)]
        self._queue = deque()
        self._events = []
        self._returned_at = None

    def __enter__(self):
        self._returned_at = time.process_time()
        return self

    def __exit__(self, *_):
        pass

    def clock(self):
        return self.now

    def workers(self):
        return self._names

    def submit(self, ticket, payload, *, worker="", avoid=()):
        begun = time.process_time()
        number = self._numbers[worker] if worker else next(iter(self._idle), None)
        if number in self._idle:
            self._idle.discard(number)
            self._run(number, ticket, payload)
        else:
            (self._own[number] if worker else self._queue).append((ticket, payload))
        self._returned_at += time.process_time() - begun  # the engine's work is not the driver's

    def withdraw(self, tickets):
        self._queue.clear()

    def wait(self, seconds):
        self.driver_seconds += time.process_time() - self._returned_at
        self.now += time.process_time() - self._returned_at
        if self._events and self._events[0].at > self.now:
            self.now = min(self._events[0].at, self.now + seconds)
        outcomes = []
        while self._events and self._events[0].at <= self.now:
            event = heapq.heappop(self._events)
            if event.ticket < 0:
                self._serve_next(event.worker)
            else:
                reason = "" if event.answer else "the worker was lost"
                outcomes.append(CallOutcome(event.ticket, event.answer, f"w{event.worker}", reason))
        self._returned_at = time.process_time()
        return outcomes

    def _serve_next(self, worker):
        """A worker is free."""
        queue = self._own[worker] or self._queue
        if queue:
            self._run(worker, *queue.popleft())
        else:
            self._idle.add(worker)

    def _run(self, worker, ticket, payload):
        request = unpacked(payload)
        machine = WorkerMachine(f"cache{worker}", f"host{worker}", "simulated")
        seconds = 0.0
        if isinstance(request, RunBatch):
            seconds = self._seconds * len(request.trials)
            results = tuple(fabricated(trial, self._seconds) for trial in request.trials)
            answer = packed(Answered(results, machine))
        elif isinstance(request, Piece):
            answer = packed(PieceReceived(request.total, True))
        else:
            answer = packed(Accepted(machine))
        # A worker that waits begins its next call when the one before it has ended, not when the driver looks.
        end = self.now + seconds
        if self._random.random() < self._loss and isinstance(request, RunBatch):
            self.n_lost += 1
            end, answer = self.now + seconds * self._random.random(), None
        else:
            self.busy += seconds
        heapq.heappush(self._events, _Event(end + (self._absence if answer is None else 0), -ticket, worker, None))
        heapq.heappush(self._events, _Event(end + self._random.choice(self._latencies), ticket, worker, answer))


def answer_all(connection, payloads):
    """Answer payloads in a process of its own."""
    from mfbench_cluster.service import answer

    with connection:
        connection.send([answer(payload) for payload in payloads])
