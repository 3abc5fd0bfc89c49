"""Executors and engines: the interfaces between a run and whatever runs its trials.

An executor takes the trials of a run and gives their results. An engine moves bytes: it runs `mfbench.run.site.answer`
somewhere and brings the answer back; it knows nothing about trials, keeps no limit and makes no promise beyond saying
which calls were lost. Limits, repeats after a loss, versions and data are those of a pool, the executor that the hook
``mfbench_pool`` makes of an engine. This module stays light: it imports neither NumPy nor the runner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Any

from mfbench.model.trials import Trial, TrialResult

Running = tuple[Trial, float]
"""A trial and the seconds for which it has run."""
Follow = Callable[[list[Running]], None]


class Executor(ABC):
    """What runs the trials of one run.

    Attributes
    ----------
    machines : mapping of str to str
        The machines that have run trials so far, each with its kind; may stay empty.
    """

    machines: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    def start(self, job: Any, budget: Any = None, follow: Follow | None = None) -> None:
        """Start what runs the trials.

        Parameters
        ----------
        job : mfbench.run.workers.job.Job
            What the trials have in common.
        budget : mfbench.run.forecast.order.Budget or None, default=None
            The time that the run may take. When it is over, or admits none of the trials that are left, `collect` ends.
        follow : callable or None, default=None
            To be called from time to time, with the trials that are known to run: also if none of them ends.
        """

    @abstractmethod
    def submit(self, trials: Iterable[Trial]) -> None:
        """Take trials, in the order in which to run them; called again only when `collect` has ended."""

    @abstractmethod
    def collect(self) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends, in any order; those that the budget has no time for are left."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started, whether or not all trials have run; called once after `start`."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended.

    Attributes
    ----------
    ticket : int
        The number that the call was submitted with.
    answer : bytes or None
        What `mfbench.run.site.answer` returned; None if the call was lost.
    worker : str
        The worker that answered; empty if it is not known.
    reason : str
        Why the call was lost: one clause, such as "worker tcp://… was lost".
    """

    ticket: int
    answer: bytes | None
    worker: str = ""
    reason: str = ""


class Engine(ABC):
    """A context in which calls run on other processes or machines.

    A worker is a process that runs calls, such as a worker of Dask. It runs a call by
    ``mfbench.run.site.answer(payload, slots=…, is_wanted=…)``, in a thread or a process of its own.
    """

    @abstractmethod
    def __enter__(self) -> Engine: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def workers(self) -> Mapping[str, int]:
        """Return the workers that are there now, each with its number of slots: the calls that it runs at once."""

    @abstractmethod
    def submit(self, ticket: int, payload: bytes, *, worker: str = "", avoid: Collection[str] = ()) -> None:
        """Queue a call.

        Parameters
        ----------
        ticket : int
            Increases from call to call; calls should start in this order.
        payload : bytes
        worker : str, default=""
            The only worker that may run it; empty for any.
        avoid : collection of str, default=()
            Workers that must not run it.
        """

    @abstractmethod
    def wait(self, seconds: float) -> Sequence[CallOutcome]:
        """Wait until a call ends or is lost, at most some seconds; return those that have.

        A call that was submitted ends exactly once unless it is withdrawn. A call whose only worker has gone is lost.
        """

    @abstractmethod
    def withdraw(self, tickets: Iterable[int]) -> None:
        """Give calls up: those that wait never start, and `is_wanted` is false for those that run."""
