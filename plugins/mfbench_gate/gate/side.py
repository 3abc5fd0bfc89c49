"""One side of a gate as the main process sees it: a replicate is started, asked, and ended with all below it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from mfbench.errors import MfbenchError, printable
from mfbench.model.trials import Status, Trial
from mfbench.processes.process import THREAD_VARIABLES, describe_exit
from mfbench_gate.gate.replicate import BOOTSTRAP

# A process that imports everything and looks up the methods takes seconds; one that takes longer hangs.
START_SECONDS = 300.0
# A process whose output has ended is about to end.
_ENDING_SECONDS = 5.0
_READER_SECONDS = 1.0


class ReplicateError(MfbenchError):
    """A replicate could not start."""


class RunningReplicate:
    """A running replicate. Use it in a ``with`` block, which ends it."""

    def __init__(self, python: Path, harness: Path, order: Path, timeout: float) -> None:
        self._python, self._timeout = python, timeout
        self._errors = order.with_name("errors.log")
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [str(python), "-c", BOOTSTRAP, str(harness), str(order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # a group of its own, which is ended as a whole
                text=True,
                encoding="utf-8",
                cwd=order.parent,  # nothing there can be imported by mistake
                env=_environment(),
            )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.is_alive = True
        self._has_ended = False
        self.missing: dict[str, str] = {}
        self.judged: dict[str, list[str]] = {}

    def __enter__(self) -> RunningReplicate:
        try:
            started = self._receive(START_SECONDS)
        except BaseException:
            self._end()
            raise
        if started is None or "failed" in started:
            self._end()
            reason = started["failed"] if started else f"{self._ending(START_SECONDS)}{self._last_words()}"
            raise ReplicateError(f"a process of {self._python} cannot start: {reason}")
        self.missing, self.judged = started["missing"], started["judged"]
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, trial: Trial, rounds: int, left: float = math.inf) -> Mapping[str, Any]:
        """Run a trial; see `mfbench_gate.gate.replicate.Replicate.run`. A process that ends or hangs is an answer."""
        patience = min(self._timeout * (rounds + 1), max(1.0, left))
        answer = self._ask({"trial": asdict(trial), "rounds": rounds}, patience)
        if answer is not None:
            if "garbled" in answer:
                self._end()
            return answer
        self._end()
        status = Status.TIMEOUT if self._code is None else Status.CRASH
        return {"status": str(status), "message": f"the process {self._ending(patience)}"}

    def versions(self) -> dict[str, str]:
        """Return the versions of Python and of all packages of the environment, by name."""
        return self._ask({}, START_SECONDS) or {}

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it has ended since its last answer; its exit code says how
            pass
        return self._receive(seconds)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next answer; None if the process ends without one, or hangs."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        self._has_ended = not line
        if line:  # a method has found the way out, and written into it
            message = f"the process wrote something else than an answer: {line[:80].strip()!r}"
            return {"status": str(Status.CRASH), "message": message, "failed": message, "garbled": True}
        return None

    def _ending(self, seconds: float) -> str:
        code = self._code
        return f"did not answer within {seconds:g} s" if code is None else describe_exit(code)

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._errors.read_text(errors="replace").splitlines() if line.strip()]
        return f"; {printable(lines[-1][:200])}" if lines else ""

    def _end(self) -> None:
        """End the process and everything below it. Its number must not be free before its group has been ended."""
        if not self.is_alive:
            return
        self.is_alive = False
        family = _family(self._process.pid)
        if self._has_ended:
            _await_end(self._process)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        self._code = code if self._has_ended else None
        # A descendant that left the group may hold the pipe; then the thread goes on, and closing would wait for it.
        self._reader.join(timeout=_READER_SECONDS)
        for stream in (self._process.stdin, None if self._reader.is_alive() else self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _family(pid: int) -> list[psutil.Process]:
    try:
        return [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return []


def _await_end(process: subprocess.Popen[str]) -> None:
    """Wait a moment for the exit code of a process that is about to end; keep its number where the system can."""
    if not hasattr(os, "waitid"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_ENDING_SECONDS)
        return
    end = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < end:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return
        time.sleep(0.01)


def _environment() -> dict[str, str]:
    """Return the environment of a replicate: one thread, and nothing that changes what Python imports."""
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return variables | dict.fromkeys(THREAD_VARIABLES, "1")
