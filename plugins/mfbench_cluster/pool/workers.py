"""The workers of a run: which are there, which have the job, and which are avoided for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mfbench.errors import RunError
from mfbench.run.forecast.budget import duration_text

ATTEMPTS = 3  # handshakes that may be lost while the worker is still there
_SHOWN = 10
# Seconds before the user is notified that no worker runs trials: there is none, or those that are there are starting.
_SILENT, _STARTING = 5.0, 30.0
CONTINUE = "the results so far are stored: repeat the command to continue"


@dataclass
class Workers:
    """The workers as the driver sees them."""

    notify: Callable[[str], None]  # takes a sentence for the user
    patience: float  # seconds to wait for a worker
    present: Mapping[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)  # with the ticket of the last call before that
    avoided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _losses: Counter[str] = field(default_factory=Counter)
    _alone_since: float | None = None
    _has_complained: bool = False
    slots: int = 0
    barred: frozenset[str] = frozenset()

    def update(self, present: Mapping[str, int], now: float) -> list[str]:
        """Take note of the workers that are there; return those whose handshake is due."""
        for worker in set(self.present) - set(present):  # another process may come under the same name
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
        """Use a worker that has the job, unless it has gone or is avoided."""
        if worker in self.present and worker not in self.avoided:
            self.accepted[worker] = ticket
            self._count()

    def forget(self, worker: str, ticket: int) -> None:
        """Repeat the handshake of a worker that says that it lacks the job, unless it was asked before it got it."""
        if self.accepted.get(worker, ticket) < ticket:
            del self.accepted[worker]
            self._asked.discard(worker)
            self._count()

    def avoid(self, worker: str, reasons: tuple[str, ...]) -> None:
        """Send nothing to a worker any more; the user is notified once."""
        self.accepted.pop(worker, None)
        if worker not in self.avoided:
            self.avoided[worker] = reasons
            self.notify(f"{worker} is not used: {'; '.join(reasons)}")
        self._count()

    def lose(self, worker: str, reason: str) -> None:
        """Take note of a handshake that was lost; a worker that is there and does not answer is avoided."""
        self._losses[worker] += 1
        self._asked.discard(worker)
        if self._losses[worker] >= ATTEMPTS and worker in self.present:
            self.avoid(worker, (f"it does not answer ({reason})",))

    def _count(self) -> None:
        self.slots = sum(self.present.get(worker, 0) for worker in self.accepted)
        self.barred = frozenset(self.avoided).union(worker for worker in self.present if worker not in self.accepted)

    def _check(self, now: float) -> None:
        if self.accepted:
            self._alone_since = None
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
