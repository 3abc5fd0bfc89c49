"""Time and memory of a block."""

import time

import numpy as np
import pytest

from mfbench.run.trial import guard
from mfbench.run.trial.guard import PeakMemory, Stopwatch

MB = 2**20


def measures_memory():
    with PeakMemory() as peak:
        np.ones(16 * MB // 8)
    return peak.bytes > 0


linux = pytest.mark.skipif(not measures_memory(), reason="this system does not tell the peak")


class TestStopwatch:
    def test_sleeping_takes_wall_time_alone(self):
        # Threads of BLAS that an earlier test has used spin on for a tenth of a second.
        with Stopwatch() as watch:
            time.sleep(0.5)
        assert watch.wall >= 0.5
        assert watch.cpu < watch.wall / 2

    def test_work_takes_both(self):
        with Stopwatch() as watch:
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass
        assert watch.cpu >= 0.05
        assert watch.wall >= 0.045

    def test_a_block_that_raises_is_measured_and_the_error_goes_on(self):
        watch = Stopwatch()
        with pytest.raises(ZeroDivisionError), watch:
            time.sleep(0.01)
            _ = 1 / 0
        assert watch.wall >= 0.01

    def test_a_block_that_has_not_ended_reads_zero(self):
        with Stopwatch() as watch:
            assert (watch.wall, watch.cpu) == (0.0, 0.0)


class TestPeakMemory:
    @linux
    def test_an_allocation_is_seen_although_it_is_freed(self):
        with PeakMemory() as peak:
            np.ones(64 * MB // 8)
        assert 60 * MB < peak.bytes < 96 * MB

    @linux
    def test_an_earlier_larger_block_does_not_hide_this_one(self):
        np.ones(128 * MB // 8)
        with PeakMemory() as peak:
            np.ones(32 * MB // 8)
        assert 28 * MB < peak.bytes < 64 * MB

    @linux
    def test_a_quiet_block_is_small(self):
        with PeakMemory() as peak:
            sum(range(1000))
        assert peak.bytes < 8 * MB

    @linux
    def test_a_block_that_raises_is_measured(self):
        peak = PeakMemory()
        with pytest.raises(ZeroDivisionError), peak:
            np.ones(64 * MB // 8)
            _ = 1 / 0
        assert peak.bytes > 60 * MB

    def test_where_the_system_cannot_tell_it_is_zero(self, monkeypatch, tmp_path):
        monkeypatch.setattr(guard, "_CLEAR", tmp_path / "no" / "such")
        with PeakMemory() as peak:
            np.ones(16 * MB // 8)
        assert peak.bytes == 0
