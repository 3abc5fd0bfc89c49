"""The places of a run: which are there, which have introduced themselves, and which are avoided for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mfbench.errors import RunError
from mfbench.run.forecast.budget import duration_text
from mfbench_cluster.pool.messages import Machine

ATTEMPTS = 3  # introductions that may be lost while the place is still there
_SHOWN = 10
# Seconds before the user is notified that no place runs trials: there is none, or those that are there are starting.
_SILENT, _STARTING = 5.0, 30.0
CONTINUE = "the results so far are stored: repeat the command to continue"


@dataclass
class Places:
    """The places as the driver sees them."""

    notify: Callable[[str], None]  # takes a sentence for the user
    patience: float  # seconds to wait for a place
    present: Mapping[str, int] = field(default_factory=dict)
    accepted: dict[str, Machine] = field(default_factory=dict)
    avoided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _losses: Counter[str] = field(default_factory=Counter)
    _alone_since: float | None = None
    _has_complained: bool = False
    slots: int = 0
    barred: frozenset[str] = frozenset()

    def look(self, present: Mapping[str, int], now: float) -> list[str]:
        """Take note of the places that are there; return those to introduce themselves."""
        gone = set(self.present) - set(present)
        for place in gone:  # another process may come under the same name
            self.accepted.pop(place, None)
            self._asked.discard(place)
            self._losses.pop(place, None)
            self.avoided.pop(place, None)
        self.present = dict(present)
        self._count()
        self._check(now)
        strangers = [place for place in present if place not in self._asked and place not in self.avoided]
        self._asked.update(strangers)
        return strangers

    def accept(self, place: str, machine: Machine) -> bool:
        """Take a place that has introduced itself; return False if it has gone or is avoided."""
        if place not in self.present or place in self.avoided:
            return False
        self.accepted[place] = machine
        self._count()
        return True

    def avoid(self, place: str, reasons: tuple[str, ...]) -> None:
        """Send nothing to a place any more; the user is notified once."""
        self.accepted.pop(place, None)
        if place not in self.avoided:
            self.avoided[place] = reasons
            self.notify(f"{place} is not used: {'; '.join(reasons)}")
        self._count()

    def lose(self, place: str, reason: str) -> None:
        """Take note of an introduction that was lost; a place that is there and does not answer is avoided."""
        self._losses[place] += 1
        self._asked.discard(place)
        if self._losses[place] >= ATTEMPTS and place in self.present:
            self.avoid(place, (f"it does not answer ({reason})",))

    def _count(self) -> None:
        self.slots = sum(self.present.get(place, 0) for place in self.accepted)
        self.barred = frozenset(self.avoided).union(place for place in self.present if place not in self.accepted)

    def _check(self, now: float) -> None:
        if self.accepted:
            self._alone_since = None
            return
        if self.present and all(place in self.avoided for place in self.present):
            listed = [f"{place}: {'; '.join(reasons)}" for place, reasons in list(self.avoided.items())[:_SHOWN]]
            more = [f"… and {len(self.avoided) - _SHOWN} more"] if len(self.avoided) > _SHOWN else []
            raise RunError("\n".join([f"no place can run the trials; {CONTINUE}", *listed, *more]))
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since >= self.patience:
            raise RunError(f"no worker has come within {duration_text(self.patience)}; {CONTINUE}")
        silent = _STARTING if self.present else _SILENT
        if not self._has_complained and now - self._alone_since >= min(silent, self.patience / 2):
            self._has_complained = True
            lack = "no worker has answered yet" if self.present else "there is no worker"
            self.notify(f"{lack}; waiting for {duration_text(self.patience)} at most")
