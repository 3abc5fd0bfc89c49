"""Dask clusters for tests: in this process, or one process for the scheduler and each worker; and a network to cut."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psutil

PATIENCE = 60.0


def until(condition, patience=PATIENCE):
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < end, f"nothing has happened for {patience:g} s"
        time.sleep(0.02)
    return value


@contextmanager
def threaded_cluster(n_workers=2):
    """Run a scheduler and workers in threads of this process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
        memory_limit=0,
    ) as cluster:
        yield cluster


class Processes:
    """A scheduler and workers, each in a process of its own that can be killed.

    Parameters
    ----------
    folder : Path
        For files and logs.
    environ : mapping
        Environment variables besides those of this process.
    """

    def __init__(self, folder: Path, **environ) -> None:
        self.folder = folder
        self.environ = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s", **environ}
        self.started: list[subprocess.Popen] = []
        self.workers: list[subprocess.Popen] = []
        self.scheduler: subprocess.Popen | None = None
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            end_tree(process.pid)
        for process in self.started:
            process.wait()

    def start_scheduler(self, *options):
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), *options)
        until(self._is_open)
        return self.scheduler

    def start_worker(self, *options, address=""):
        options = ("--nthreads", "1", "--memory-limit", "0", "--local-directory", str(self.folder), *options)
        worker = self._start("worker", address or self.address, "--host", "127.0.0.1", *options)
        self.workers.append(worker)
        return worker

    def _start(self, kind, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *options]
        with (self.folder / f"{kind}.log").open("a") as log:
            process = subprocess.Popen(command, env=self.environ, stderr=log, stdout=log, start_new_session=True)
        self.started.append(process)
        return process

    def _is_open(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


def end_tree(pid):
    """Kill a process and all below it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


def worker_below(nanny):
    """Return the worker process of a nanny, when it is there."""

    def find():
        for child in psutil.Process(nanny.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # one that has just ended has no command line
                if "spawn_main" in " ".join(child.cmdline()):
                    return child
        return None

    return until(find)


def stop(process):
    """Stop a process, as a machine that hangs does."""
    os.kill(process.pid, signal.SIGSTOP)


class Network:
    """A connection that can be cut: what it is sent goes to a port of this machine.

    Attributes
    ----------
    address : str
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._is_down = self._is_frozen = self._is_closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._is_closed = True
        self._thread.join()
        self._server.close()
        self.drop()

    def drop(self):
        """Close the connections that there are."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
            for connection in [one for pair in pairs for one in pair]:
                connection.close()

    def cut(self):
        """Close the connections, and refuse new ones."""
        self._is_down = True
        self.drop()

    def freeze(self):
        """Forward nothing, and close nothing."""
        self._is_frozen = True

    def mend(self):
        self._is_down = self._is_frozen = False

    def _serve(self):
        while not self._is_closed:
            with self._lock:
                ends = {one: other for a, b in self._pairs for one, other in ((a, b), (b, a))}
                ready, _, _ = select.select([self._server, *([] if self._is_frozen else ends)], [], [], 0)
                for one in ready:
                    if one is self._server:
                        self._accept()
                    elif one.fileno() >= 0:
                        self._forward(one, ends[one])
            if not ready:
                time.sleep(0.002)

    def _accept(self):
        connection, _ = self._server.accept()
        if self._is_down:
            connection.close()
        else:
            self._pairs.append((connection, socket.create_connection(("127.0.0.1", self._target))))

    def _forward(self, one, other):
        try:
            data = one.recv(1 << 20)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        self._pairs = [pair for pair in self._pairs if one not in pair]
        one.close()
        other.close()
