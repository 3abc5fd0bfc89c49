"""A connection to a cluster: sends calls, follows them until they end, and watches workers and scheduler.

Everything here runs in one event loop, in the engine's thread. No call disappears silently: it is answered, reported as
lost, or the whole session fails with one sentence.
"""

from __future__ import annotations

import asyncio
import inspect
import textwrap
import uuid
from collections.abc import Callable, Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from time import monotonic

from distributed import CancelledError, Client, Future, KilledWorker, LocalCluster, Worker, get_worker
from distributed.comm import CommClosedError
from distributed.core import Status

from mfbench.engines import CallOutcome
from mfbench.errors import MfbenchError, RunError, describe_error
from mfbench_cluster import service
from mfbench_cluster.dask.cluster import close, connect, is_local, start_cluster

Answer = tuple[str, bytes | None, str]
"""The worker's address, its answer, and the reason if there is none."""


def run(target, payload):  # type: ignore[no-untyped-def]
    """Run a call on a Dask worker; its source is sent as text, so it must be self-contained."""
    import importlib

    import distributed

    address = distributed.get_worker().address
    try:
        module, _, name = target.partition(":")
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 - a broken installation may raise anything
        return address, None, f"cannot import mfbench ({type(error).__name__}: {error})"
    try:
        return address, function(payload), ""
    except Exception as error:  # noqa: BLE001 - the reason is reported to the user with the worker's name
        return address, None, f"failed ({type(error).__name__}: {error})"


EXPRESSION = "exec(source) or run(target, payload)"
"""The expression that `eval` computes on the worker, in the namespace of a `request`."""
_SOURCE = textwrap.dedent(inspect.getsource(run))


def request(target: str, payload: bytes) -> dict[str, object]:
    """Return the namespace in which a worker evaluates `EXPRESSION`."""
    return {"source": _SOURCE, "target": target, "payload": payload}


# Seconds between polls of the workers, and the timeout of a poll.
_INTERVAL = 1.0
_LOOK = 10.0
# Seconds without a scheduler response after which a run fails. Waiting for workers is handled elsewhere.
_PATIENCE = 60.0
# Maximum number of times to send a call: Dask forgets it whenever the connection to the scheduler is lost.
_ATTEMPTS = 5
_CLOSED = ("closing", "closed")

Report = Callable[[CallOutcome | MfbenchError], None]


@dataclass(eq=False)
class Call:
    """A call that has not ended."""

    ticket: int
    payload: bytes
    worker: str = ""  # the only worker that may run the call; empty for any
    avoid: Collection[str] = ()  # workers that must not run the call
    workers: tuple[str, ...] = ()  # workers allowed to run the call when it was sent; empty for any
    attempt: int = 0  # number of times the call was sent
    future: Future | None = None  # None unless it is currently sent


class ClusterSession:
    """A connection to a cluster."""

    def __init__(self, scheduler: str, jobs: int, target: str, report: Report) -> None:
        self.workers: dict[str, int] = {}
        self._scheduler, self._jobs, self._target, self._report = scheduler, jobs, target, report
        # All calls of a session form one Dask task group, which the scheduler queues until a worker is free.
        self._group = f"mfbench-{uuid.uuid4().hex[:12]}"
        self._calls: dict[int, Call] = {}
        self._unsent: list[Call] = []
        self._followers: set[asyncio.Task[None]] = set()
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None

    async def live(self, ready: Callable[[], None], stop: asyncio.Event) -> None:
        """Connect, call `ready`, and serve until `stop` is set."""
        async with AsyncExitStack() as stack:
            if is_local(self._scheduler):
                self._cluster = await start_cluster(self._jobs, stack)
            self._client = await connect(self._cluster or self._scheduler)
            stack.push_async_callback(self._close)
            await self._look()
            ready()
            await self._watch(stop)

    def add(self, calls: Iterable[Call]) -> None:
        """Send calls, in order."""
        for call in calls:
            self._calls[call.ticket] = call
            self._unsent.append(call)
        self._send()

    def withdraw(self, tickets: Iterable[int]) -> None:
        """Cancel calls."""
        for ticket in tickets:
            call = self._calls.pop(ticket, None)
            if call is not None and call.future is not None:
                call.future.release()  # wakes its follower

    def _send(self) -> None:
        if self._client is None or self._client.status != "running":
            return  # `_watch` sends them after reconnecting
        batches: dict[tuple[str, ...], list[Call]] = {}
        calls, self._unsent = self._unsent, []
        for call in calls:
            if self._calls.get(call.ticket) is not call:
                continue
            call.workers = self._workers_for(call)
            if (call.worker or call.avoid) and not call.workers:
                self._lose(call, f"worker {call.worker} was lost" if call.worker else "no other worker is left")
            else:
                batches.setdefault(call.workers, []).append(call)
        for workers, batch in batches.items():
            self._send_batch(batch, workers)

    def _workers_for(self, call: Call) -> tuple[str, ...]:
        if call.worker:
            return (call.worker,) if call.worker in self.workers else ()
        return tuple(worker for worker in self.workers if worker not in call.avoid) if call.avoid else ()

    def _send_batch(self, calls: list[Call], workers: tuple[str, ...]) -> None:
        assert self._client is not None
        futures = self._client.map(
            eval,
            [EXPRESSION] * len(calls),
            [request(self._target, call.payload) for call in calls],
            key=[(self._group, call.ticket, call.attempt) for call in calls],
            pure=False,
            priority=-calls[0].ticket,
            workers=list(workers) or None,
        )
        for call, future in zip(calls, futures, strict=True):
            call.attempt += 1
            call.future = future
            follower = asyncio.create_task(self._follow(call, future))
            self._followers.add(follower)
            follower.add_done_callback(self._followers.discard)

    async def _follow(self, call: Call, future: Future) -> None:
        try:
            worker, answer, reason = await future
        # Withdrawn, or the connection to the scheduler was lost, possibly while the answer was in transit.
        except (CancelledError, CommClosedError):
            if self._calls.get(call.ticket) is not call:
                return
            future.release()
            call.future = None
            if call.attempt >= _ATTEMPTS:
                self._lose(call, f"the connection to the scheduler was lost {call.attempt} times")
            else:
                self._unsent.append(call)
        except KilledWorker as error:
            times, last = error.allowed_failures + 1, getattr(error.last_worker, "address", error.last_worker)
            self._lose(call, f"the worker that ran it was lost {times} times, at last {last}")
        except Exception as error:  # noqa: BLE001 - Dask re-raises any task error
            self._lose(call, " ".join(describe_error(error).split()))
        else:
            self._end(call, CallOutcome(call.ticket, answer, worker, f"worker {worker} {reason}" if reason else ""))

    def _lose(self, call: Call, reason: str) -> None:
        self._end(call, CallOutcome(call.ticket, None, call.worker, reason))

    def _end(self, call: Call, outcome: CallOutcome) -> None:
        if self._calls.get(call.ticket) is not call:
            return
        del self._calls[call.ticket]
        if call.future is not None:
            call.future.release()
        self._report(outcome)

    async def _watch(self, stop: asyncio.Event) -> None:
        """Keep the list of workers up to date, reconnect, and report calls whose only workers are gone."""
        last_answer = monotonic()
        while not stop.is_set():
            await _sleep(stop)
            await self._revive()
            if await self._look():
                last_answer = monotonic()
                self._send()
                self._lose_stranded()
            elif monotonic() - last_answer > _PATIENCE:
                raise RunError(
                    f"the Dask scheduler {self._scheduler} has not answered for {_PATIENCE:g} s; the results so far "
                    "are stored: repeat the command to continue"
                )

    async def _look(self) -> bool:
        """Poll the scheduler for its workers; return whether it responded."""
        assert self._client is not None
        if self._client.status in _CLOSED:
            return False
        try:
            self.workers = dict(await asyncio.wait_for(self._client.ncores(), _LOOK))
        except (OSError, TimeoutError, CancelledError):
            return False
        return True

    async def _revive(self) -> None:
        """Reconnect if the client has given up."""
        assert self._client is not None
        if self._client.status not in _CLOSED or self._cluster is not None:
            return
        try:
            self._client = await connect(self._scheduler)
        except RunError:  # `_watch` limits the retries
            return

    def _lose_stranded(self) -> None:
        """Report calls that Dask would keep forever because none of their allowed workers is left."""
        stranded = [
            call for call in self._calls.values() if call.workers and not self.workers.keys() & set(call.workers)
        ]
        for call in stranded:
            names = ", ".join(call.workers[:3]) + (", …" if len(call.workers) > 3 else "")
            self._lose(call, f"worker {names} was lost" if len(call.workers) == 1 else f"workers {names} were lost")

    async def _close(self) -> None:
        self.withdraw(list(self._calls))
        client, self._client = self._client, None
        if client is not None:
            await close(client)


async def _sleep(stop: asyncio.Event) -> None:
    """Wait for the next poll, or until the session is stopped."""
    try:
        await asyncio.wait_for(stop.wait(), _INTERVAL)
    except TimeoutError:
        return


_RUNNING = ("executing", "long-running")
_OPEN = (Status.running, Status.paused)


def answer(payload: bytes) -> bytes:
    """Answer a call; runs in a worker thread, within a Dask task."""
    worker = get_worker()
    key = worker.get_current_task()
    return service.answer(payload, slots=worker.state.nthreads, is_wanted=lambda: is_wanted(worker, key))


def is_wanted(worker: Worker, key: object) -> bool:
    """Return whether a task is still wanted: Dask cannot stop its thread, so the thread must ask."""
    task = worker.state.tasks.get(key)
    return worker.status in _OPEN and task is not None and task.state in _RUNNING
