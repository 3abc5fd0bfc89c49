"""Engines: the interface between a run and whatever starts its trials on other machines.

An engine moves bytes. It runs `mfbench.run.site.answer` somewhere and brings the answer back; it knows nothing about
trials, keeps no limit and makes no promise beyond saying which calls were lost. Limits, repeats after a loss, versions
and data are the framework's (`mfbench.run.executors.remote`). This module stays light: it imports nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes
    ----------
    ticket : int
        The number that the call was submitted with.
    answer : bytes or None
        What `mfbench.run.site.answer` returned; None if the call was lost.
    place : str
        The place that answered; empty if it is not known.
    reason : str
        Why the call was lost: one clause, such as "worker tcp://… was lost".
    """

    ticket: int
    answer: bytes | None
    place: str = ""
    reason: str = ""


class Engine(ABC):
    """A context in which calls run on other processes or machines.

    A place is a process that runs calls, such as a worker of Dask. A place runs a call by
    ``mfbench.run.site.answer(payload, slots=…, is_wanted=…)``, in a thread or a process of its own.
    """

    @abstractmethod
    def __enter__(self) -> Engine: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def places(self) -> Mapping[str, int]:
        """Return the places that are there now, each with the number of calls that it runs at once."""

    @abstractmethod
    def submit(self, ticket: int, payload: bytes, *, place: str = "", avoid: Collection[str] = ()) -> None:
        """Queue a call.

        Parameters
        ----------
        ticket : int
            Increases from call to call; calls should start in this order.
        payload : bytes
        place : str, default=""
            The only place that may run it; empty for any.
        avoid : collection of str, default=()
            Places that must not run it.
        """

    @abstractmethod
    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Wait until a call ends or is lost, at most some seconds; return those that have.

        A call that was submitted ends exactly once unless it is withdrawn. A call whose only place has gone is lost.
        """

    @abstractmethod
    def withdraw(self, tickets: Iterable[int]) -> None:
        """Give calls up: those that wait never start, and `is_wanted` is false for those that run."""
