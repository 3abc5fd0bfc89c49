"""One side of a gate as seen by the main process: starts a replicate, queries it, and ends its process tree."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickle
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

import mfbench_gate
from mfbench import errors
from mfbench.data.prepare import Columns
from mfbench.errors import MfbenchError, printable
from mfbench.host.discovery import always_plugins
from mfbench.host.registry import HOST
from mfbench.model.trials import Status, Trial
from mfbench.processes.process import THREAD_VARIABLES, describe_exit
from mfbench.processes.temporary import temporary_folder
from mfbench.run.environment import memory_limit
from mfbench.run.workers.job import Job, write_arrays
from mfbench.suite.plan import Plan
from mfbench_gate.gate.replicate import BOOTSTRAP

# Importing everything and looking up the methods takes seconds; a process that takes longer than this hangs.
START_SECONDS = 300.0
_ENDING_SECONDS = 5.0
_READER_SECONDS = 1.0


class ReplicateError(MfbenchError):
    """A replicate could not start."""


class RunningReplicate:
    """A running replicate, ended by its ``with`` block."""

    def __init__(self, python: Path, harness: Path, order: Path, timeout: float) -> None:
        self._python, self._timeout = python, timeout
        self._errors = order.with_name("errors.log")
        # Use one thread, and drop the variables that change Python's imports.
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [str(python), "-c", BOOTSTRAP, str(harness), str(order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # a separate process group, which can be ended as a whole
                encoding="utf-8",
                cwd=order.parent,  # contains nothing that could be imported by mistake
                env=variables | dict.fromkeys(THREAD_VARIABLES, "1"),
            )
        assert self._process.stdin is not None
        self._requests = self._process.stdin
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.is_alive = True
        self.missing: dict[str, str] = {}
        self.judged: dict[str, list[str]] = {}

    def __enter__(self) -> RunningReplicate:
        try:
            started = self._receive(START_SECONDS)
        except BaseException:
            self._end()
            raise
        if "failed" in started:
            self._end()
            lines = [line.strip() for line in self._errors.read_text(errors="replace").splitlines() if line.strip()]
            words = f"; {printable(lines[-1][:200])}" if lines and "status" in started else ""
            raise ReplicateError(f"a process of {self._python} cannot start: {started['failed']}{words}")
        self.missing, self.judged = started["missing"], started["judged"]
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, trial: Trial, rounds: int, left: float = math.inf) -> Mapping[str, Any]:
        """Run a trial; see `mfbench_gate.gate.replicate.Replicate.run`. A crash or hang is also an answer."""
        seconds = min(self._timeout * (rounds + 1), max(1.0, left))
        answer = self._ask({"trial": asdict(trial), "rounds": rounds}, seconds)
        if "failed" in answer:
            return {"status": answer["status"], "message": f"the process {answer['failed']}"}
        return answer

    def versions(self) -> dict[str, str]:
        """Return the versions of Python and all packages of the environment, by name."""
        answer = self._ask({}, START_SECONDS)
        return {} if "failed" in answer else answer

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        with contextlib.suppress(BrokenPipeError):  # it ended after its last answer; its exit code tells how
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        return self._receive(seconds)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _receive(self, seconds: float) -> dict[str, Any]:
        """Return the next answer; if there is none, end the process and answer with the status and "failed"."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._end()
            return {"status": str(Status.TIMEOUT), "failed": f"did not answer within {seconds:g} s"}
        if not line:  # its output was closed, so it is about to end
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_SECONDS)
            self._end()
            return {"status": str(Status.CRASH), "failed": describe_exit(self._process.returncode)}
        with contextlib.suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
        self._end()  # a method found the output stream and wrote into it
        message = f"wrote something else than an answer: {line[:80].strip()!r}"
        return {"status": str(Status.CRASH), "failed": message}

    def _end(self) -> None:
        """End the process and all its descendants."""
        if not self.is_alive:
            return
        self.is_alive = False
        if self._process.poll() is None:
            process = psutil.Process(self._process.pid)
            for member in [*process.children(recursive=True), process]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    member.kill()
        # The group still contains the children of the ended process, so its number cannot have been reused.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # no process is left
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        # A descendant that left the group may hold the pipe open; closing would block, so leave the thread running.
        self._reader.join(timeout=_READER_SECONDS)
        for stream in (self._requests, None if self._reader.is_alive() else self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


# Four processes are alive at a time.
_PROCESSES = 4


@contextmanager
def staged(plan: Plan) -> Iterator[Callable[[Path], RunningReplicate]]:
    """Write the files of a gate to a temporary folder that is removed afterwards."""
    with temporary_folder("gate") as folder:
        order, harness = folder / "order.pickle", folder / "harness"
        order.write_bytes(pickle.dumps((plan.loaded, _job(plan, folder))))
        harness.mkdir()
        # Expose only mfbench, the gate and what measures on both sides: their folders contain other packages.
        always = (plugin for plugin in always_plugins().values() if plugin.distribution == HOST)
        measuring = (import_module(plugin.module.partition(".")[0]) for plugin in always)
        for package in [Path(str(module.__file__)).parent for module in (errors, mfbench_gate, *measuring)]:
            if os.name == "nt":  # links require a privilege on Windows
                shutil.copytree(package, harness / package.name)
            else:
                (harness / package.name).symlink_to(package, target_is_directory=True)
        yield partial(RunningReplicate, harness=harness, order=order, timeout=plan.loaded.protocol.timeout)


def _job(plan: Plan, folder: Path) -> Job:
    return Job(
        methods={},
        datasets={label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        files={label: write_arrays(planned, folder) for label, planned in plan.datasets.items()},
        data_folder=folder,
        protocol=plan.protocol,
        runner=plan.loaded.spec.runner,
        settings=plan.loaded.protocol,
        task=plan.loaded.task,
        true_pairs={label: tuple(planned.data.interactions or ()) for label, planned in plan.datasets.items()},
        structures={label: p.structure for label, p in plan.datasets.items() if p.structure is not None},
        references={label: p.reference for label, p in plan.datasets.items() if p.reference is not None},
        classes={label: p.classes for label, p in plan.datasets.items()},
        memory_limit=memory_limit(plan.loaded.protocol.memory, _PROCESSES),
        log=folder / "replicates.log",
    )
