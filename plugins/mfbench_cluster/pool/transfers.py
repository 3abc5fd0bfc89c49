"""Transfers: array files on their way to workers, piece by piece, each file once per machine."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mfbench_cluster.pool.batches import Batch
from mfbench_cluster.pool.messages import PIECE, Piece, PieceReceived

# Transfers at once: each has one piece in the memory of the driver.
AT_ONCE = 8
# A machine that receives a file so often and still lacks it cannot keep it.
MOST_TIMES = 5


@dataclass(eq=False)
class Transfer:
    """A file on its way."""

    cache: str  # the cache of the machine that gets it
    worker: str  # the worker that the pieces are sent to
    name: str  # SHA-256 of the file
    offset: int = 0
    waiting: list[Batch] = field(default_factory=list)  # the batches that need it


class Transfers:
    """What is on its way, and what waits for its turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue: deque[Transfer] = deque()
        self._open: dict[tuple[str, str], Transfer] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        # What has arrived, with the ticket of the last call before that.
        self._arrived: dict[tuple[str, str], int] = {}
        self._n_active = 0

    def request(self, cache: str, worker: str, name: str, batch: Batch | None) -> bool:
        """Ask for a file to be sent; a batch waits for it. Return False if the machine keeps losing it."""
        transfer = self._open.get((cache, name))
        if transfer is None:
            self._times[cache, name] += 1
            if self._times[cache, name] > MOST_TIMES:
                return False
            transfer = self._open[cache, name] = Transfer(cache, worker, name)
            self._queue.append(transfer)
        if batch is not None:
            transfer.waiting.append(batch)
        return True

    def has_arrived_since(self, cache: str, name: str, ticket: int) -> bool:
        """Tell whether a file has arrived after a call was sent, whose answer then says nothing about it."""
        return self._arrived.get((cache, name), -1) >= ticket

    def start(self) -> Iterator[Transfer]:
        """Yield the transfers whose turn it is."""
        while self._queue and self._n_active < AT_ONCE:
            self._n_active += 1
            yield self._queue.popleft()

    def piece(self, transfer: Transfer) -> Piece:
        """Return the next piece of a transfer."""
        with (self._folder / transfer.name).open("rb") as file:
            total = file.seek(0, 2)
            file.seek(transfer.offset)
            return Piece(transfer.name, transfer.offset, total, file.read(PIECE))

    def advance(self, transfer: Transfer, answer: PieceReceived) -> bool:
        """Note how far a transfer has come; return False if it must begin again too often."""
        if answer.n_bytes == 0:
            self._times[transfer.cache, transfer.name] += 1
        transfer.offset = answer.n_bytes
        return self._times[transfer.cache, transfer.name] <= MOST_TIMES

    def arrive(self, transfer: Transfer, ticket: int) -> None:
        """Note that a file has arrived, and the ticket of the last call so far."""
        self._arrived[transfer.cache, transfer.name] = ticket

    def end(self, transfer: Transfer) -> list[Batch]:
        """Take a transfer out, whether or not it has arrived; return the batches that waited for it."""
        if self._open.pop((transfer.cache, transfer.name), None) is None:
            return []
        self._n_active -= 1
        return transfer.waiting

    def forget(self, worker: str) -> list[Batch]:
        """Take out what waits to be sent to a worker that is no longer used; return the batches that waited."""
        gone = [transfer for transfer in self._queue if transfer.worker == worker]
        for transfer in gone:
            self._queue.remove(transfer)
            del self._open[transfer.cache, transfer.name]
        return [batch for transfer in gone for batch in transfer.waiting]
