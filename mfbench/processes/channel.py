"""Length-prefixed messages between two processes over a socket.

The worker's side blocks. The other side never does: it buffers in both directions, so a worker that stalls in the
middle of a message holds up no other worker.
"""

import selectors
import socket
import struct
from collections.abc import Iterable, Iterator

_HEADER = struct.Struct("!Q")
_CHUNK = 1 << 20


def framed(data: bytes) -> bytes:
    """Prefix a message with its length."""
    return _HEADER.pack(len(data)) + data


def receive(connection: socket.socket) -> bytes | None:
    """Block until a message arrives; return None if the peer has closed the connection."""
    header = _exactly(connection, _HEADER.size)
    return None if header is None else _exactly(connection, _HEADER.unpack(header)[0])


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    """Receive exactly `size` bytes; return None if the peer closes the connection first."""
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), _CHUNK))
        if not part:
            return None
        data += part
    return bytes(data)


class Channel:
    """The non-blocking end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.is_closed = False
        self._incoming = bytearray()
        self._outgoing = bytearray()

    @property
    def wants_to_write(self) -> bool:
        """Whether unsent data is buffered."""
        return bool(self._outgoing) and not self.is_closed

    def send(self, data: bytes) -> None:
        """Send a message, buffering what the peer does not read yet."""
        self._outgoing += framed(data)
        self.flush()

    def flush(self) -> None:
        """Send as much as the socket accepts without blocking."""
        try:
            while self._outgoing:
                del self._outgoing[: self.connection.send(memoryview(self._outgoing)[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self._outgoing.clear()  # the peer is gone, but what it sent before can still be read

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


# Unlike select(), poll() does not limit descriptor numbers; Windows has only select().
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


def wait(channels: Iterable[Channel], timeout: float | None) -> list[Channel]:
    """Wait for open channels to become readable, or writable if they have unsent data; return these channels."""
    with _Selector() as selector:
        for channel in channels:
            if not channel.is_closed:
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.wants_to_write else 0)
                selector.register(channel.connection, events, channel)
        return [key.data for key, _ in selector.select(timeout)]
