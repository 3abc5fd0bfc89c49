"""The engine "dask": runs calls on Dask workers, through an event loop in a background thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import TracebackType

from mfbench.engines import CallOutcome, Engine
from mfbench.errors import MfbenchError, RunError, describe_error
from mfbench_cluster.dask.cluster import check_scheduler
from mfbench_cluster.dask.session import Call, ClusterSession

TARGET = "mfbench_cluster.dask.session:answer"
"""The function that workers call with the payload."""
# Dask would log on the terminal what this engine reports in one sentence, or repairs.
_LOGGERS = ("distributed", "distributed.client", "tornado.application", "asyncio")


class DaskEngine(Engine):
    """Run calls on the workers of a Dask cluster."""

    def __init__(self, scheduler: str = "", jobs: int = 1, target: str = TARGET) -> None:
        check_scheduler(scheduler)
        self._scheduler, self._jobs, self._target = scheduler, jobs, target
        self._ended: SimpleQueue[CallOutcome | MfbenchError] = SimpleQueue()
        self._failure: MfbenchError | None = None
        self._inbox: deque[Call] = deque()
        self._session: ClusterSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> DaskEngine:
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._serve, args=(ready,), name="mfbench-dask", daemon=True)
        self._thread.start()
        try:
            ready.result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def workers(self) -> Mapping[str, int]:
        """Return the current workers, each with its number of threads."""
        return {} if self._session is None else self._session.workers

    def submit(self, ticket: int, payload: bytes, *, worker: str = "", avoid: Collection[str] = ()) -> None:
        """Queue a call; see `Engine.submit`."""
        self._inbox.append(Call(ticket, payload, worker, tuple(avoid)))
        if len(self._inbox) == 1:  # later calls join the same message until the loop handles it
            self._tell(self._send)

    def wait(self, seconds: float) -> Sequence[CallOutcome]:
        """Wait until a call ends or is lost; see `Engine.wait`."""
        outcomes: list[CallOutcome] = []
        for item in self._take(seconds):
            if isinstance(item, CallOutcome):
                outcomes.append(item)
            else:
                self._failure = item
        if not outcomes and self._failure is not None:
            raise self._failure
        return outcomes

    def withdraw(self, tickets: Iterable[int]) -> None:
        """Cancel calls; see `Engine.withdraw`."""
        numbers = list(tickets)
        self._tell(lambda: self._withdraw(numbers))

    def _take(self, seconds: float) -> Iterator[CallOutcome | MfbenchError]:
        try:
            if self._failure is None:
                yield self._ended.get(timeout=max(0.0, min(seconds, threading.TIMEOUT_MAX)))
            while True:
                yield self._ended.get_nowait()
        except Empty:
            return

    def _tell(self, function: object) -> None:
        """Schedule a function in the event loop; if the loop has ended, `wait` raises the reason."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)  # type: ignore[arg-type]

    def _send(self) -> None:
        calls = []
        while self._inbox:
            calls.append(self._inbox.popleft())
        if self._session is not None:
            self._session.add(calls)

    def _withdraw(self, tickets: list[int]) -> None:
        self._send()
        if self._session is not None:
            self._session.withdraw(tickets)

    def _end(self) -> None:
        if self._thread is None:
            return
        if self._stop is not None:
            self._tell(self._stop.set)
        self._thread.join()
        self._thread = None

    def _serve(self, ready: Future[None]) -> None:
        """Run the event loop; called in its thread."""
        with _quiet():
            try:
                asyncio.run(self._live(ready))
            except MfbenchError as error:
                self._fail(ready, error)
            except BaseException as error:  # noqa: BLE001 - `wait` raises it in the run's thread
                self._fail(ready, RunError(f"the connection to Dask has failed: {describe_error(error)}"))

    def _fail(self, ready: Future[None], error: MfbenchError) -> None:
        if ready.done():
            self._ended.put(error)
        else:
            ready.set_exception(error)

    async def _live(self, ready: Future[None]) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._session = ClusterSession(self._scheduler, self._jobs, self._target, self._ended.put)
        await self._session.live(lambda: ready.set_result(None), self._stop)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's log messages off the terminal."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
