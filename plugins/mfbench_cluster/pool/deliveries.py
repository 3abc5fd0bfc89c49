"""Deliveries: the job and the array files on their way to places, piece by piece, each array once per machine."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from mfbench.run.workers.job import Job
from mfbench_cluster.pool.batches import Call
from mfbench_cluster.pool.messages import PIECE, Deliver, Delivered

# Deliveries at once: each has one piece in the memory of the driver.
AT_ONCE = 8
# A machine that receives a file so often and still lacks it cannot keep it.
MOST_TIMES = 5


@dataclass(eq=False)
class Delivery:
    """A file on its way."""

    target: str  # the cache of the machine that gets an array; the place that gets the job
    place: str  # the place that the pieces are sent to
    name: str  # SHA-256 of the file
    is_job: bool
    offset: int = 0
    waiting: list[Call] = field(default_factory=list)  # the calls that need it


class Deliveries:
    """What is on its way, and what waits for its turn."""

    def __init__(self, job: Job, blob: bytes) -> None:
        self._folder = job.data_folder
        self._blob = blob
        self._queue: deque[Delivery] = deque()
        self._open: dict[tuple[str, str], Delivery] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        # What has arrived, with the ticket of the last call before that.
        self._arrived: dict[tuple[str, str], int] = {}
        self._n_active = 0

    def request(self, target: str, place: str, name: str, call: Call | None, *, is_job: bool = False) -> bool:
        """Ask for a file to be sent; a call waits for it. Return False if the target keeps losing it."""
        delivery = self._open.get((target, name))
        if delivery is None:
            self._times[target, name] += 1
            if self._times[target, name] > MOST_TIMES:
                return False
            delivery = self._open[target, name] = Delivery(target, place, name, is_job)
            self._queue.append(delivery)
        if call is not None:
            delivery.waiting.append(call)
        return True

    def has_arrived_since(self, target: str, name: str, ticket: int) -> bool:
        """Tell whether a file has arrived after a call was sent, whose answer then says nothing about it."""
        return self._arrived.get((target, name), -1) >= ticket

    def start(self) -> Iterator[Delivery]:
        """Yield the deliveries whose turn it is."""
        while self._queue and self._n_active < AT_ONCE:
            self._n_active += 1
            yield self._queue.popleft()

    def piece(self, delivery: Delivery) -> Deliver:
        """Return the next piece of a delivery."""
        if delivery.is_job:
            data, total = self._blob[delivery.offset : delivery.offset + PIECE], len(self._blob)
        else:
            with (self._folder / delivery.name).open("rb") as file:
                total = file.seek(0, 2)
                file.seek(delivery.offset)
                data = file.read(PIECE)
        return Deliver(delivery.name, delivery.offset, total, data, delivery.is_job)

    def advance(self, delivery: Delivery, answer: Delivered) -> bool:
        """Note how far a delivery has come; return False if it must begin again too often."""
        if answer.received == 0:
            self._times[delivery.target, delivery.name] += 1
        delivery.offset = answer.received
        return self._times[delivery.target, delivery.name] <= MOST_TIMES

    def arrive(self, delivery: Delivery, ticket: int) -> None:
        """Note that a file has arrived, and the ticket of the last call so far."""
        self._arrived[delivery.target, delivery.name] = ticket

    def end(self, delivery: Delivery) -> list[Call]:
        """Take a delivery out, whether or not it has arrived; return the calls that waited for it."""
        if self._open.pop((delivery.target, delivery.name), None) is None:
            return []
        self._n_active -= 1
        return delivery.waiting

    def forget(self, place: str) -> list[Call]:
        """Take out what waits to be sent to a place that is no longer used; return the calls that waited."""
        gone = [delivery for delivery in self._queue if delivery.place == place]
        for delivery in gone:
            self._queue.remove(delivery)
            del self._open[delivery.target, delivery.name]
        return [call for delivery in gone for call in delivery.waiting]
