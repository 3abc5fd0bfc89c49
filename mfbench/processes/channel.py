"""Messages between two processes: pickled objects over a socket, read without trusting the sender.

One side, the worker's, blocks. The other side never does: it keeps what has arrived and what is still to be sent, so
that a worker that stops in the middle of a message delays nobody else.
"""

from __future__ import annotations

import io
import pickle
import selectors
import socket
import struct
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import Any

from mfbench.processes.moments import read_moments

_HEADER = struct.Struct("!Q")
_CHUNK = 1 << 20
# What a message from a worker may name. Anything else would be imported here, in the process that must not run it.
_DATA_TYPES = {
    "builtins": {"bytearray", "complex", "frozenset", "object", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "pathlib": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "pathlib._local": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},  # 3.13
    "numpy": {"dtype", "ndarray"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
}
_OWN = ("mfbench",)


class ForeignObjectError(pickle.UnpicklingError):
    """A message holds an object of a class that is not plain data."""


class _DataPickler(pickle.Pickler):
    """Writes a member of an enum as its class and its value: some releases of Python write a call of `getattr`."""

    def reducer_override(self, value: Any) -> Any:
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


class _DataUnpickler(pickle.Unpickler):
    """Reads plain data, NumPy arrays and the classes of some packages; imports nothing else."""

    packages: tuple[str, ...] = _OWN

    def find_class(self, module: str, name: str) -> Any:
        if name in _DATA_TYPES.get(module, ()):
            return super().find_class(module, name)
        if module.partition(".")[0] in self.packages:
            value = super().find_class(module, name)
            if isinstance(value, type):
                return value
        raise ForeignObjectError(f"it holds an object of {module}.{name}, which is not plain data")


def dumps(value: Any) -> bytes:
    """Pickle an object for `loads`, in the same way in every release of Python."""
    buffer = io.BytesIO()
    _DataPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def loads(data: bytes | bytearray, packages: Collection[str] = _OWN) -> Any:
    """Read a pickled object that consists of plain data, NumPy arrays and objects of classes of some packages."""
    unpickler = _DataUnpickler(io.BytesIO(data))
    unpickler.packages = tuple(packages)
    return unpickler.load()


def framed(data: bytes) -> bytes:
    """Return a message as it is sent: its length, then its bytes."""
    return _HEADER.pack(len(data)) + data


def receive(connection: socket.socket) -> bytes | None:
    """Wait for a message; return None if the other side has closed."""
    header = _exactly(connection, _HEADER.size)
    return None if header is None else _exactly(connection, _HEADER.unpack(header)[0])


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        part = connection.recv(min(size, _CHUNK))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Channel:
    """The side that never waits."""

    def __init__(self, connection: socket.socket, moments: socket.socket | None = None) -> None:
        connection.setblocking(False)
        self.connection = connection
        self._moments = moments
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

    def messages(self) -> Iterator[bytearray]:
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
            message = self._incoming[_HEADER.size : end]
            del self._incoming[:end]
            yield message

    def moments(self) -> list[tuple[str, float]]:
        """Return the moments that the child has marked since the last call."""
        return [] if self._moments is None else read_moments(self._moments)

    def close(self) -> None:
        """Close the connection."""
        self.is_closed = True
        self.connection.close()
        if self._moments is not None:
            self._moments.close()


# Unlike select(), poll() has no limit on the numbers of descriptors; Windows has select() alone.
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


def wait(channels: Iterable[Channel], timeout: float | None) -> list[Channel]:
    """Wait until channels have something to read, or take what is still to be sent; return them."""
    with _Selector() as selector:
        for channel in channels:
            if not channel.is_closed:
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.wants_to_write else 0)
                selector.register(channel.connection, events, channel)
        return [key.data for key, _ in selector.select(timeout)]
