"""A call that talks to servers: its value, its error, or its end, and no connection afterwards."""

import socket
import threading

import pytest

from mfbench.data.remote.bounded import Connections, call_within


def test_the_value_or_the_error_of_the_function():
    assert call_within(20, threading.get_ident, Connections()) != threading.get_ident()
    with pytest.raises(KeyboardInterrupt):
        call_within(20, lambda: (_ for _ in ()).throw(KeyboardInterrupt), Connections())
    with pytest.raises(TimeoutError, match="mine"):
        call_within(20, lambda: (_ for _ in ()).throw(TimeoutError("mine")), Connections())


def test_the_end_reaches_a_thread_that_waits_for_a_server():
    ours, theirs = socket.socketpair()
    connections, received = Connections(), []
    connections.add(ours)
    with ours, theirs, pytest.raises(TimeoutError, match=r"not finished within 0\.1 s"):
        call_within(0.1, lambda: received.append(ours.recv(1)), connections)
    assert received == [b""]


def test_there_is_no_connection_after_the_end():
    connections = Connections()
    connections.end()
    ours, theirs = socket.socketpair()
    with theirs, pytest.raises(ConnectionAbortedError):
        connections.add(ours)
    assert ours.fileno() == -1
