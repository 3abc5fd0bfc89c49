"""Channels: messages in parts, a reader that does not read, and what a message may hold."""

import contextlib
import pickle
import socket
from fractions import Fraction

import numpy as np
import pytest

from mfbench.isolation.channel import Channel, ForeignObjectError, framed, loads, receive, wait
from mfbench.trials import Status, TrialResult


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


def test_a_message_in_parts_is_complete_only_at_its_end(pair):
    channel, worker = pair
    data = framed(b"first") + framed(b"second")
    worker.sendall(data[:15])
    assert list(channel.messages()) == [b"first"]
    assert list(channel.messages()) == []
    worker.sendall(data[15:])
    assert list(channel.messages()) == [b"second"]
    worker.close()
    assert list(channel.messages()) == [] and channel.is_closed


def test_sending_never_waits(pair):
    channel, worker = pair
    channel.send(b"x" * 5_000_000)
    assert channel.wants_to_write
    assert wait([channel], 0) == []
    worker.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while worker.recv(1 << 20):
            pass
    assert wait([channel], 60) == [channel]


def test_both_sides_agree(pair):
    channel, worker = pair
    channel.send(b"a question")
    assert receive(worker) == b"a question"
    channel.close()
    assert receive(worker) is None


def test_results_and_arrays_are_read():
    result = TrialResult(key="k", status=Status.ERROR, weights=np.arange(3.0), scores={"a": np.float64(0.5)})
    for protocol in (pickle.DEFAULT_PROTOCOL, pickle.HIGHEST_PROTOCOL):
        back = loads(pickle.dumps((result, {("class", 2): {1, 2}}), protocol=protocol))
        assert back[0].status is Status.ERROR and back[0].weights.tolist() == [0.0, 1.0, 2.0]
        assert back[0].scores == {"a": 0.5} and back[1] == {("class", 2): {1, 2}}


class _Runs:
    def __reduce__(self):
        return eval, ("1 + 1",)


def test_anything_else_is_refused(subtests):
    for value in [Fraction(1, 2), _Runs(), pickle.loads, framed]:
        with subtests.test(value=value), pytest.raises(ForeignObjectError, match="not plain data"):
            loads(pickle.dumps(value))
