"""Commands as forks of a process that has imported the libraries already: a new interpreter needs seconds for that.

`CommandServer` is the client's end. The server is this file run as a script: a process with one thread that forks
whenever it is asked, so each command has its own environment, folder, plugins and worker processes.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

PRELOADED = [
    *("mfbench.api", "mfbench.run.runner", "mfbench.report.present", "mfbench_claims.api"),
    *("mfbench.cli.runs", "mfbench_claims.cli", "mfbench_catalog.cli", "mfbench.host.registry"),
    *("mfbench_baselines.filters", "mfbench_datasets.installed", "sklearn.ensemble", "sklearn.neighbors"),
    *("sklearn.discriminant_analysis", "sklearn.feature_selection", "sklearn.naive_bayes"),
    *("altair", "vl_convert"),
]


class CommandServer:
    """The process that commands are forked from."""

    def __init__(self) -> None:
        # Forking is safe only while there is one thread. Commands get their own environment.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(
        self,
        words: tuple[str, ...],
        folder: Path,
        environment: dict[str, str],
        output: Path,
        timeout: float,
        *,
        in_process: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``mfbench`` to its end.

        Parameters
        ----------
        words : tuple of str
        folder : Path
            Working directory of the command.
        environment : dict of str
        output : Path
            An existing, empty folder for what the command prints and for its exit status.
        timeout : float
            Seconds until the command is killed.
        in_process : bool
            Whether the command executes trials itself: starting a worker takes longer than those of a small run.
        """
        request = {"words": words, "folder": str(folder), "environment": environment, "output": str(output)}
        request["in_process"] = in_process
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        command = int(self._process.stdout.readline())
        end = time.monotonic() + timeout
        while not (output / "status").exists():
            if time.monotonic() > end:
                with suppress(ProcessLookupError):
                    os.kill(command, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, timeout)
            time.sleep(0.005)
        code = os.waitstatus_to_exitcode(int((output / "status").read_text()))
        out, err = ((output / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(words, code, out, err)

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def serve() -> None:
    """Fork a command for each line of standard input, and answer with its process number."""
    for name in PRELOADED:
        importlib.import_module(name)
    load_registry = importlib.import_module("mfbench.host.registry").load_registry
    registry = load_registry()  # what it imports and reads of the installed distributions is the same in every command
    code_hashes = importlib.import_module("mfbench.host.code_hashes")
    packages = metadata.packages_distributions()
    code_hashes._packages = lambda folders: packages  # plugins of hosts are files without a distribution
    code_hashes.host_code()  # parses all of it; a plan reads the files again, and parses what has changed
    for name in ("anova-f", "relieff", "variance"):
        code_hashes.method_code(registry.entry("selector", name))
    gc.freeze()  # a collection in a command would copy all pages that it shares with this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that watch commands
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            command = os.fork()
            if command == 0:
                become(request)
                return
            os.write(1, f"{command}\n".encode())
            watch(command, Path(request["output"]))


def watch(command: int, output: Path) -> None:
    """Wait for the end of a command and record its status, in one step so that no reader sees half of it."""
    _, status = os.waitpid(command, 0)
    unfinished = output / "status.new"
    unfinished.write_text(str(status))
    unfinished.rename(output / "status")
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Turn this process into the command."""
    for number, name in enumerate(("/dev/null", "out", "err")):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        descriptor = os.open(Path(request["output"], name), flags, 0o644)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    # What ``python -m mfbench`` makes of the folder and the environment.
    paths = [request["folder"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:] = [*paths, *(path for path in sys.path[1:] if path not in paths)]
    sys.dont_write_bytecode = True
    if request["in_process"]:
        sys.path.append(str(Path(__file__).parents[1] / "run"))
        choice, small_runs = (importlib.import_module(name) for name in ("mfbench.run.runner", "small_runs"))
        choice.LocalPool = small_runs.InProcess
        importlib.import_module("mfbench.host.probes").call = called_here
    sys.argv[:] = ["mfbench", *request["words"]]
    code = 0
    try:
        runpy.run_module("mfbench", run_name="__main__", alter_sys=True)
    except SystemExit as left:
        code = left.code
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)  # dismantling the interpreter takes longer than most commands


def called_here(target: str, *args: Any, **_: Any) -> Any:
    """Answer a request to a child process, which would need a second to start."""
    return pkgutil.resolve_name(target)(*args)


if __name__ == "__main__":
    serve()
