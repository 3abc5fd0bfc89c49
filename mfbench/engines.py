"""Executors and engines: the interfaces between a run and the processes or machines that run its trials.

An executor takes the trials of a run and yields their results. An engine only transports bytes: it calls
`mfbench.run.site.answer` on some worker, returns the answer, and reports lost calls. It knows nothing about trials and
enforces no limits. The pool, an executor that the hook ``mfbench_pool`` builds on an engine, takes care of limits,
retries, versions and data. This module stays light: it imports neither NumPy nor the runner.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Any, Self

from mfbench.model.trials import Trial, TrialResult

Running = tuple[Trial, float]
"""A trial and its elapsed seconds."""
Follow = Callable[[list[Running]], None]


class Executor(ABC):
    """Runs the trials of one run.

    Attributes
    ----------
    machines : mapping of str to str
        The machines that have run trials so far, with the kind of each; may stay empty.
    """

    machines: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def start(self, job: Any, budget: Any = None, follow: Follow | None = None) -> None:
        """Start the processes or connections that run the trials.

        Parameters
        ----------
        job : mfbench.run.workers.job.Job
            The data shared by all trials.
        budget : mfbench.run.forecast.order.Budget or None, default=None
            The time limit of the run. `collect` ends when it is used up or admits none of the remaining trials.
        follow : callable or None, default=None
            Called periodically with the trials known to be running, even if none ends.
        """

    @abstractmethod
    def submit(self, trials: Iterable[Trial]) -> None:
        """Accept trials, in the order in which to run them; called again only after `collect` has ended."""

    @abstractmethod
    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends, in any order; trials that exceed the budget are omitted."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything that was started, whether or not all trials have run; called once after `start`."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call.

    Attributes
    ----------
    ticket : int
        The number under which the call was submitted.
    answer : bytes or None
        The return value of `mfbench.run.site.answer`; None if the call was lost.
    worker : str
        The worker that answered; empty if unknown.
    reason : str
        Why the call was lost, as one clause: "worker tcp://… was lost".
    """

    ticket: int
    answer: bytes | None
    worker: str = ""
    reason: str = ""


class Engine(ABC):
    """A context manager that runs calls in other processes or on other machines.

    A worker is a process that runs calls (a Dask worker, for example). It runs each call as
    ``mfbench.run.site.answer(payload, slots=…, is_wanted=…)``, in a separate thread or process.
    """

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def workers(self) -> Mapping[str, int]:
        """Return the current workers, each with its number of slots (the calls it runs concurrently)."""

    @abstractmethod
    def submit(self, ticket: int, payload: bytes, *, worker: str = "", avoid: Collection[str] = ()) -> None:
        """Queue a call.

        Parameters
        ----------
        ticket : int
            Increases with each call; calls should start in this order.
        payload : bytes
        worker : str, default=""
            The only worker that may run the call; empty for any.
        avoid : collection of str, default=()
            Workers that must not run the call.
        """

    @abstractmethod
    def wait(self, seconds: float) -> Sequence[CallOutcome]:
        """Wait up to a number of seconds for calls to end or be lost, and return those that have.

        A submitted call ends exactly once unless it is withdrawn. A call whose only worker has gone is lost.
        """

    @abstractmethod
    def withdraw(self, tickets: Iterable[int]) -> None:
        """Cancel calls: queued ones never start, and for running ones `is_wanted` becomes false."""
