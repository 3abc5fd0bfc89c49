"""Connections that no server can hold or flood: a deadline for a whole call, and a limit on headers."""

from __future__ import annotations

import io
import threading
from concurrent.futures import Future, wait
from contextlib import suppress
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any, TypeVar

from requests.adapters import HTTPAdapter

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

T = TypeVar("T")

HEADER_LIMIT = 1 << 18

# A thread whose connections were shut down ends at once, unless it is still waiting for a server's name or address.
_GRACE = 1.0


class HeadersTooLongError(Exception):
    """A server sends more headers than `HEADER_LIMIT` allows."""


class Connections:
    """The connections of one call, which can all be ended from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._is_over = False

    def add(self, connection: socket.socket) -> None:
        """Watch a connection; after the end, close it and raise `ConnectionAbortedError`."""
        with self._lock:
            if self._is_over:
                connection.close()
                raise ConnectionAbortedError("the call is over")
            # TLS takes the socket over, but shutting down a duplicate ends the connection for both.
            self._sockets.append(connection.dup())

    def end(self) -> None:
        """Shut down every connection, whatever waits for it, and allow no further one."""
        with self._lock:
            self._is_over = True
            for connection in self._sockets:
                with suppress(OSError):  # it has ended by itself
                    connection.shutdown(2)  # in both directions
                connection.close()
            self._sockets.clear()


class BoundedAdapter(HTTPAdapter):
    """A transport of requests whose connections are watched, and whose servers send headers of bounded length."""

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self._connections = connections

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """Return the pool of an address or of a proxy, as requests chooses it; its connections are bounded."""
        pool = super().get_connection_with_tls_context(*args, **options)
        if not hasattr(pool.ConnectionCls, "watched"):
            pool.ConnectionCls = _bounded(pool.ConnectionCls, self._connections)
        return pool


def _bounded(kind: type, connections: Connections) -> type:
    """Return a class of connections, direct or through a proxy, with bounds."""

    class Bounded(kind):  # type: ignore[misc]
        response_class = _Response
        watched = connections

        def _new_conn(self) -> socket.socket:
            connection: socket.socket = super()._new_conn()
            self.watched.add(connection)
            return connection

    return Bounded


class _Response(HTTPResponse):
    """An answer whose status lines, headers, trailers and sizes of chunks are bounded together."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        # No read-ahead was made yet, so nothing is lost.
        self.fp = _Reader(self.fp.detach())


class _Reader(io.BufferedReader):
    """Counts the bytes of lines, which are everything but the body, against those of the body."""

    # A chunk has a line, so a long body may come with many of them; but `HEADER_LIMIT` bytes more than the body are
    # enough for any server.

    _surplus = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self._surplus += len(line)
        if self._surplus > HEADER_LIMIT:
            raise HeadersTooLongError(f"the server sends more than {HEADER_LIMIT >> 10} KiB of headers")
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self._surplus -= len(data or b"")
        return data

    def read1(self, size: int = -1, /) -> bytes:
        data = super().read1(size)
        self._surplus -= len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        size = super().readinto(buffer)
        self._surplus -= size or 0
        return size


def call_within(seconds: float, function: Callable[[], T], connections: Connections) -> T:
    """Call a function that talks to servers, and leave it behind if it takes too long."""
    # It runs in a thread of its own, because some waits, such as that for the address of a name, cannot be interrupted.
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            outcome.set_exception(error)

    thread = threading.Thread(target=work, name="mfbench download", daemon=True)
    thread.start()
    try:
        if not wait([outcome], seconds).done:
            raise TimeoutError(f"not finished within {seconds:g} s")
        return outcome.result()
    finally:
        connections.end()
        thread.join(_GRACE)
