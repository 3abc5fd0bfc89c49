"""The interface of all executors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType

from mfbench.run.budget import Budget
from mfbench.trials import Trial, TrialResult

Running = tuple[Trial, float]
"""A trial and the seconds for which it has run."""


class Executor(ABC):
    """A context in which trials run.

    Leaving it ends everything that it has started, whether or not all trials have run.

    Attributes
    ----------
    budget : Budget or None
        The time that the run may take. When it is over, or admits none of the trials that are left, `run` ends.
    follow : callable or None
        Called from time to time while trials run, with those that are known to run: also if none of them ends.
    """

    budget: Budget | None = None
    follow: Callable[[list[Running]], None] | None = None

    @abstractmethod
    def __enter__(self) -> Executor: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, TrialResult]]:
        """Yield each trial with its result as it ends, in any order; those that the budget has no time for are left."""

    @property
    @abstractmethod
    def machines(self) -> Mapping[str, str]:
        """The machines that have run trials so far, each with its kind."""
