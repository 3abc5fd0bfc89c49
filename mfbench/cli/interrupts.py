"""Signals that end a run in an orderly way, with a partial report and the command that resumes it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM and when the terminal is closed, as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    numbers = [number for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number is not None]
    # A signal that the caller ignores (nohup) stays ignored.
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handling in before.items():
        if handling is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handling in before.items():
            signal.signal(number, handling)
