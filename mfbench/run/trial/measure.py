"""Time and memory of a piece of work."""

from __future__ import annotations

import contextlib
import ctypes
import re
from pathlib import Path
from time import perf_counter, process_time  # bound here, before a method can replace them
from types import TracebackType

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Stopwatch:
    """Context manager that measures wall and CPU seconds of this process."""

    wall: float = 0.0  # wall, cpu: seconds; set when the block ends
    cpu: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._wall = perf_counter()
        self._cpu = process_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall = perf_counter() - self._wall
        self.cpu = process_time() - self._cpu


class PeakMemory:
    """How far resident memory rises above its level at the start of a block."""

    # On Linux the kernel's high-water mark is reset at the start, so that an earlier, larger block hides nothing.
    # Elsewhere nothing as cheap exists, and the rise is reported as 0.

    bytes: int = 0  # the rise; set when the block ends

    def __enter__(self) -> PeakMemory:
        self._start = 0
        give_back()
        try:
            _CLEAR.write_text("5")
            self._start = _kilobytes("VmRSS")
        except OSError:  # no such interface here, or not allowed: 0 means "not measured"
            pass
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._start:
            self.bytes = max(0, _kilobytes("VmHWM") - self._start) * 1024


def give_back() -> None:
    """Return freed memory to the system: reusing what an earlier block left would not show as a rise."""
    with contextlib.suppress(OSError, AttributeError):  # only the GNU C library has it; elsewhere nothing is measured
        ctypes.CDLL(None).malloc_trim(0)


def _kilobytes(field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return int(match.group(1)) if match else 0
