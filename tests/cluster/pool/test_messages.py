"""Messages between a driver and its workers: another version is recognized before anything is read."""

import pickle

import pytest

from mfbench.model.trials import Trial
from mfbench_cluster.pool.messages import VERSION, MessageError, Refused, RunBatch, packed, unpacked


def test_a_message_comes_back():
    batch = RunBatch("job", ("a",), "/shared", (Trial("k", "d", "m", 0, 1, 2),))
    assert unpacked(packed(batch)) == batch


def test_another_version_is_named(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("mfbench_cluster.pool.messages.VERSION", "9.9")
        data = packed(Refused(("x",)))
    with pytest.raises(MessageError, match=f"^mfbench 9.9 instead of {VERSION}$"):
        unpacked(data)


def test_what_is_not_a_message_is_refused(subtests):
    for data in [b"", b"nonsense", pickle.dumps(3), pickle.dumps((1, 2, pickle.dumps(print)))]:
        with subtests.test(data=data), pytest.raises(MessageError):
            unpacked(data)
