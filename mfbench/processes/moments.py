"""Moments of a child's work by the clock of the kernel, which code in the child cannot replace (Linux).

The child sends a few bytes when something begins or ends. The kernel notes when they were sent, so it does not matter
when the main process reads them.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys

_SO_TIMESTAMPNS = 35  # from <asm-generic/socket.h>; the module `socket` does not have it
_TIME = struct.Struct("@ll")
_LONGEST = 256
_MOST = 64  # read at once: a child must not keep the main process busy

_sink: socket.socket | None = None


def moments_pair() -> tuple[socket.socket, socket.socket] | None:
    """Return the ends of the main process and of a child; None where the kernel notes nothing."""
    if not sys.platform.startswith("linux"):
        return None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    ours.setblocking(False)
    theirs.setblocking(False)  # a moment that nobody reads must not stop the child
    return ours, theirs


def send_moments_to(descriptor: int) -> None:
    """Let `mark` use a socket; called in the child."""
    global _sink
    _sink = socket.socket(fileno=descriptor)


def mark(name: str) -> None:
    """Note the present moment under a name; nothing happens in a process that is not such a child."""
    if _sink is not None:
        with contextlib.suppress(OSError):
            _sink.send(name.encode()[:_LONGEST])


def read_moments(source: socket.socket) -> list[tuple[str, float]]:
    """Return the names that have arrived, each with the second when it was sent, without waiting."""
    moments: list[tuple[str, float]] = []
    with contextlib.suppress(OSError):
        while len(moments) < _MOST:
            name, notes, _, _ = source.recvmsg(_LONGEST, socket.CMSG_SPACE(_TIME.size))
            for level, kind, data in notes:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) == _TIME.size:
                    seconds, nanoseconds = _TIME.unpack(data)
                    moments.append((name.decode(errors="replace"), seconds + 1e-9 * nanoseconds))
    return moments
