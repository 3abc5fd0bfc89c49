"""One side of a gate as the main process sees it: a replicate is started, asked, and ended with all below it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from mfbench.compare.gate.replicate import BOOTSTRAP
from mfbench.errors import MfbenchError
from mfbench.isolation.process import THREAD_VARIABLES, describe_exit
from mfbench.trials import Status, Trial

# A process that imports everything and looks up the methods takes seconds; one that takes longer hangs.
START_SECONDS = 300.0


class ReplicateError(MfbenchError):
    """A replicate could not start."""


class RunningReplicate:
    """A running replicate. Use it in a ``with`` block, which ends it.

    Parameters
    ----------
    python : Path
        Interpreter of the side.
    harness : Path
        Folder with the gate's own mfbench.
    order : Path
        File with the pickled order.
    timeout : float
        Seconds for one request.

    Attributes
    ----------
    missing : dict of str to str
        Methods that do not exist on this side, each with a sentence.
    is_alive : bool
        False once a request has ended the process.
    """

    def __init__(self, python: Path, harness: Path, order: Path, timeout: float) -> None:
        self._python, self._timeout = python, timeout
        self._process = subprocess.Popen(
            [str(python), "-c", BOOTSTRAP, str(harness), str(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=order.parent,  # nothing there can be imported by mistake
            env=_environment(),
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.is_alive = True
        self.missing: dict[str, str] = {}

    def __enter__(self) -> RunningReplicate:
        try:
            started = self._receive(START_SECONDS)
        except BaseException:
            self._end()
            raise
        if started is None or "failed" in started:
            self._end()
            reason = started["failed"] if started else self._ending(START_SECONDS)
            raise ReplicateError(f"a process of {self._python} cannot start: {reason}")
        self.missing = started["missing"]
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, trial: Trial, rounds: int) -> Mapping[str, Any]:
        """Run a trial; see `mfbench.compare.gate.replicate.Replicate.run`. A process that ends or hangs is an answer.

        Parameters
        ----------
        trial : Trial
        rounds : int
        """
        patience = self._timeout * (rounds + 1)
        answer = self._ask({"trial": asdict(trial), "rounds": rounds}, patience)
        if answer is not None:
            if "garbled" in answer:
                self._end()
            return answer
        has_ended = self._process.poll() is not None
        self._end()
        status = Status.CRASH if has_ended else Status.TIMEOUT
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
        if line:  # a method has found the way out, and written into it
            message = f"the process wrote something else than an answer: {line[:80].strip()!r}"
            return {"status": str(Status.CRASH), "message": message, "failed": message, "garbled": True}
        self._process.wait(timeout=seconds)
        return None

    def _ending(self, seconds: float) -> str:
        code = self._code
        return f"did not answer within {seconds:g} s" if code is None else describe_exit(code)

    def _end(self) -> None:
        """End the process and everything below it."""
        if not self.is_alive:
            return
        self.is_alive = False
        self._code = self._process.poll()
        try:
            family = [*psutil.Process(self._process.pid).children(recursive=True), psutil.Process(self._process.pid)]
        except psutil.NoSuchProcess:
            family = []
        for member in family:
            try:
                member.kill()
            except psutil.NoSuchProcess:
                continue
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


def _environment() -> dict[str, str]:
    """Return the environment of a replicate: one thread, and nothing that changes what Python imports."""
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return variables | dict.fromkeys(THREAD_VARIABLES, "1")
