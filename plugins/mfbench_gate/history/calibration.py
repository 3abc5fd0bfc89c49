"""Three kernels that no commit of a project can change: if they slow down together with it, the machine did."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from mfbench.run.environment import available_cpus, cpu_model
from mfbench_gate.history.entries import Calibration, Machine

REPEATS = 7
# Some 20 to 60 milliseconds each on a processor of 2020.
MATRIX, PRODUCTS = 384, 8
SWEPT_BYTES = 64 * 2**20
LOOPS = 400_000


def this_machine() -> Machine:
    """Return the kind of machine that this process runs on."""
    return Machine(cpu_model(), available_cpus(), platform.platform().partition("-")[0])


def calibrate() -> Calibration:
    """Measure the kernels on one thread."""
    # Takes less than two seconds and 64 MB.
    left = np.random.default_rng(0).normal(size=(MATRIX, MATRIX))
    swept = np.ones(SWEPT_BYTES // 8)

    def gemm() -> None:
        for _ in range(PRODUCTS):
            left @ left

    def sweep() -> None:
        np.add(swept, 1.0, out=swept)

    with threadpool_limits(limits=1):
        return Calibration(gemm=_shortest(gemm), memory=_shortest(sweep), python=_shortest(_loop))


def _loop() -> None:
    total = 0
    for number in range(LOOPS):
        total += number & 7


def _shortest(kernel: Callable[[], None]) -> float:
    kernel()  # the first call also loads code and maps memory
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        kernel()
        times.append(time.process_time() - begin)
    return min(times)
