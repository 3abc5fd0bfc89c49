"""The calibration kernels: positive, on one thread, and of this machine."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mfbench.host.registry import load_registry
from mfbench.run.environment import describe
from mfbench_gate.history import trends
from mfbench_gate.history.storage import Machine
from mfbench_gate.history.trends import calibrate, this_machine


def test_this_machine_is_the_kind_that_runs_record():
    environment = describe(load_registry(only=[]), 1, 10**9)
    assert Machine.of(environment) == this_machine()


def test_each_kernel_takes_time(monkeypatch):
    monkeypatch.setattr(trends, "REPEATS", 1)
    measured = calibrate()
    assert min(measured.kernels) > 0.0
    assert measured.kernels == (measured.gemm, measured.memory, measured.python)


def test_native_libraries_run_on_one_thread(monkeypatch):
    numbers = []

    def spy(kernel):
        numbers.append([library["num_threads"] for library in threadpool_info()])
        return 1.0

    np.ones((2, 2)) @ np.ones((2, 2))
    monkeypatch.setattr(trends, "_shortest", spy)
    with threadpool_limits(2):
        calibrate()
    assert len(numbers) == 3
    assert all(number == 1 for libraries in numbers for number in libraries)
