"""Messages between two processes: bytes with their length in front, over a socket.

One side, the worker's, blocks. The other side never does: it keeps what has arrived and what is still to be sent, so
a worker that stops in the middle of a message delays no other worker.
"""

from __future__ import annotations

import selectors
import socket
import struct
from collections.abc import Iterable, Iterator

_HEADER = struct.Struct("!Q")
_CHUNK = 1 << 20


def framed(data: bytes) -> bytes:
    """Return a message as it is sent: its length, then its bytes."""
    return _HEADER.pack(len(data)) + data


def receive(connection: socket.socket) -> bytes | None:
    """Wait for a message on a blocking socket; return None if the other side has closed."""
    header = _exactly(connection, _HEADER.size)
    return None if header is None else _exactly(connection, _HEADER.unpack(header)[0])


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    """Receive so many bytes; return None if the other side has closed before."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), _CHUNK))
        if not part:
            return None
        data += part
    return bytes(data)


class Channel:
    """The side of a connection that never waits."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.is_closed = False
        self._incoming = bytearray()
        self._outgoing = bytearray()

    @property
    def wants_to_write(self) -> bool:
        """Whether something is still to be sent."""
        return bool(self._outgoing) and not self.is_closed

    def send(self, data: bytes) -> None:
        """Send a message, now or when the other side reads."""
        self._outgoing += framed(data)
        self.flush()

    def flush(self) -> None:
        """Send as much as the other side takes at once."""
        try:
            while self._outgoing:
                del self._outgoing[: self.connection.send(memoryview(self._outgoing)[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self._outgoing.clear()  # the other side is gone, but what it sent before is still to be read

    def messages(self) -> Iterator[bytes]:
        """Yield the messages that have arrived completely."""
        try:
            while not self.is_closed:
                part = self.connection.recv(_CHUNK)
                self.is_closed = not part
                self._incoming += part
        except BlockingIOError:
            pass
        except OSError:
            self.is_closed = True
        while len(self._incoming) >= _HEADER.size:
            end = _HEADER.size + _HEADER.unpack_from(self._incoming)[0]
            if len(self._incoming) < end:
                return
            message = bytes(self._incoming[_HEADER.size : end])
            del self._incoming[:end]
            yield message

    def close(self) -> None:
        """Close the connection."""
        self.is_closed = True
        self.connection.close()


# Unlike select(), poll() has no limit on the numbers of descriptors; Windows has select() alone.
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


def wait(channels: Iterable[Channel], timeout: float | None) -> list[Channel]:
    """Wait until open channels have something to read, or room for what is to be sent; return these."""
    with _Selector() as selector:
        for channel in channels:
            if not channel.is_closed:
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.wants_to_write else 0)
                selector.register(channel.connection, events, channel)
        return [key.data for key, _ in selector.select(timeout)]
