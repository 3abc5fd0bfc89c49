"""Channels: messages in parts and a reader that does not read."""

import contextlib
import socket

import pytest

from mfbench.processes.channel import Channel, framed, receive, wait


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


def test_an_answer_is_read_although_the_other_side_is_gone_when_more_is_sent(pair):
    channel, worker = pair
    worker.sendall(framed(b"the last answer"))
    worker.close()
    channel.send(b"another trial")
    assert not channel.wants_to_write
    assert list(channel.messages()) == [b"the last answer"]
    assert channel.is_closed


def test_both_sides_agree(pair):
    channel, worker = pair
    channel.send(b"a question")
    assert receive(worker) == b"a question"
    channel.close()
    assert receive(worker) is None
