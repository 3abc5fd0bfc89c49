"""Moments that a child marks: the kernel's clock, whatever happened to that of the child."""

import os
import sys
import time

import pytest

from mfbench.processes import moments
from mfbench.processes.call import call
from mfbench.processes.moments import mark, moments_pair, read_moments, send_moments_to

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel notes no moments elsewhere")


@pytest.fixture
def pair(monkeypatch):
    ours, theirs = moments_pair()
    monkeypatch.setattr(moments, "_sink", None)
    send_moments_to(os.dup(theirs.fileno()))
    yield ours, theirs
    moments._sink.close()
    ours.close()
    theirs.close()


@linux
def test_a_moment_is_that_of_its_sending(pair, monkeypatch):
    before = time.time()
    mark("begin")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    time.sleep(0.05)
    mark("end")
    (begin, first), (end, last) = read_moments(pair[0])
    assert (begin, end) == ("begin", "end") and before - 0.01 <= first and last - first >= 0.05
    assert read_moments(pair[0]) == []


@linux
def test_marks_that_nobody_reads_stop_nobody(pair):
    for number in range(1000):
        mark(str(number))
    assert 0 < len(read_moments(pair[0])) <= 64


@linux
def test_the_other_end_may_be_closed(pair):
    pair[0].close()
    mark("begin")
    assert read_moments(pair[0]) == []


def test_a_process_that_is_no_child_marks_nothing():
    mark("begin")


def test_elsewhere_there_are_none(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert moments_pair() is None
    assert call("math:factorial", 3) == 6
