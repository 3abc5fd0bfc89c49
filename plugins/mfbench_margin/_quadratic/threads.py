"""Work on all pairs of samples, divided into parts for threads.

The pairs of many samples are divided into parts that do not depend on the number of threads, and neither do results.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

# Fewer samples are one part: they take milliseconds.
MANY_SAMPLES, PARTS = 4096, 16

Result = TypeVar("Result")


def in_parts(work: Callable[[int, int], Result], n: int, n_threads: int) -> list[Result]:
    """Return what `work` returns for each part of the pairs of n samples.

    Parameters
    ----------
    work : callable
        Takes the number of a part and the number of parts; releases the lock of the interpreter.
    n, n_threads : int
    """
    n_parts = 1 if n < MANY_SAMPLES else PARTS
    if n_parts == 1 or n_threads == 1:
        return [work(part, n_parts) for part in range(n_parts)]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, range(n_parts), [n_parts] * n_parts))
