"""Channels: messages in parts, a reader that does not read, and what a message may hold."""

import contextlib
import enum
import pickle
import socket
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mfbench.model.trials import Candidate, Curve, Interactions, Status, TrialResult
from mfbench.processes.channel import Channel, ForeignObjectError, dumps, framed, loads, receive, wait
from mfbench.processes.keeper import Ended, Prepared
from mfbench_check.verdicts import Outcome, Verdict
from mfbench_cluster.pool.messages import Answered, WorkerMachine


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


def test_results_and_arrays_are_read():
    result = TrialResult(key="k", status=Status.ERROR, weights=np.arange(3.0), scores={"a": np.float64(0.5)})
    back = loads(dumps((result, {("class", 2): {1, 2}})))
    assert back[0].status is Status.ERROR and back[0].weights.tolist() == [0.0, 1.0, 2.0]
    assert back[0].scores == {"a": 0.5} and back[1] == {("class", 2): {1, 2}}


@pytest.mark.parametrize(
    "value",
    [
        TrialResult(
            key="k",
            status=Status.TIMEOUT,
            interactions=Interactions(np.zeros((1, 2)), np.zeros(1), np.zeros(1), None, 1.0, 1),
            candidates=[Candidate(chosen={"a": 1})],
            curve=Curve(np.arange(1), ("accuracy",), np.ones((1, 1)), np.ones(1)),
        ),
        Verdict(subject="a", kind="selector", package="p", check="c", outcome=Outcome.EXPECTED),
        Answered((TrialResult(key="k"),), WorkerMachine("cache", "host", "kind")),
        [Ended(-9, is_memory=True), Prepared()],
        {"folder": Path("somewhere"), "range": range(3)},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_processes_send_is_read_in_every_release_of_python(value, monkeypatch):
    # Python 3.11.2 pickles a member of an enum as a call of getattr, which no message may name.
    monkeypatch.setattr(enum.Enum, "__reduce_ex__", lambda self, protocol: (getattr, (type(self), self.name)))
    assert repr(loads(dumps(value), ("mfbench", "mfbench_check", "mfbench_cluster"))) == repr(value)


class _Runs:
    def __reduce__(self):
        return eval, ("1 + 1",)


def test_anything_else_is_refused(subtests):
    for value in [Fraction(1, 2), _Runs(), pickle.loads, framed]:
        with subtests.test(value=value), pytest.raises(ForeignObjectError, match="not plain data"):
            loads(pickle.dumps(value))
