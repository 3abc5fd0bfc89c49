"""The worker side: answers a driver's calls, and runs every trial in a killable child process.

A worker is a process on any machine, for example a Dask worker; it may be daemonic. Its threads may run several calls
concurrently. Each call checks out a pool with a single process, which is kept for the next call of the same job and
closed when idle.
"""

from __future__ import annotations

import contextlib
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import psutil

from mfbench.errors import MfbenchError, describe_error
from mfbench.host.code_hashes import forget, host_code
from mfbench.run import environment
from mfbench.run.store.metadata import Fingerprint, differences, fingerprint_of
from mfbench.run.workers.job import Job
from mfbench.run.workers.local import LocalPool, WithdrawnError
from mfbench_cluster.array_cache import ArrayCache, Lease
from mfbench_cluster.pool.messages import (
    Accepted,
    Answered,
    JobPackage,
    MessageError,
    Missing,
    Piece,
    PieceReceived,
    Refused,
    RunBatch,
    Withdrawn,
    WorkerMachine,
    packed,
    unpacked,
)

# Seconds after which an idle pool is closed, and a job without pools is dropped.
IDLE = 30.0
FORGOTTEN = 600.0
# The code loaded by this process; the installation may change while it runs.
_HOST_AT_START = host_code()

Message = Accepted | Answered | Missing | PieceReceived | Refused | Withdrawn


def answer(payload: bytes, *, slots: int = 1, is_wanted: Callable[[], bool] = lambda: True) -> bytes:
    """Answer a driver's call."""
    return _service.answer(payload, slots, is_wanted)


@dataclass
class _Running:
    """A job that this worker runs."""

    job: Job
    leases: dict[str, Lease] = field(default_factory=dict)
    idle: list[tuple[float, LocalPool]] = field(default_factory=list)
    in_use: int = 0
    last_used: float = 0.0


class WorkerService:
    """The state of a worker."""

    def __init__(self, cache: ArrayCache | None = None, idle: float = IDLE) -> None:
        self._own_cache = cache
        self._idle = idle
        self._lock = threading.RLock()
        self._jobs: dict[str, _Running] = {}
        self._accepted: set[str] = set()
        self._cleaner: threading.Thread | None = None

    def answer(self, payload: bytes, slots: int, is_wanted: Callable[[], bool]) -> bytes:
        """Answer a call; see `answer`."""
        message: Message
        try:
            request = unpacked(payload)
            if isinstance(request, JobPackage):
                message = self._accept(request, slots)
            elif isinstance(request, Piece):
                message = PieceReceived(*self._cache.append(request.name, request.offset, request.total, request.data))
            elif isinstance(request, RunBatch):
                message = self._run(request, slots, is_wanted)
            else:
                message = Refused((f"a message that this version does not know ({type(request).__name__})",))
        except (MessageError, MfbenchError) as error:
            message = Refused((str(error),))
        except Exception as error:  # noqa: BLE001 - errors outside a trial must not count against it
            message = Refused((f"this worker fails with {describe_error(error)}",))
        return packed(message)

    # -- the handshake ----------------------------------------------------------------------------------------------

    @property
    def _cache(self) -> ArrayCache:
        with self._lock:
            if self._own_cache is None:
                self._own_cache = ArrayCache()
            return self._own_cache

    @cached_property
    def _machine(self) -> WorkerMachine:
        return WorkerMachine(self._cache.identity(), platform.node(), environment.kind_of_machine())

    def _accept(self, package: JobPackage, slots: int) -> Message:
        with self._lock:
            if reasons := self._differences(package.fingerprint):
                return Refused(reasons)
            machine = self._machine  # requires a writable cache
            if package.name not in self._jobs:
                fields, folder = unpacked(package.content), self._cache.folder
                fields["memory_limit"] = fields["memory_limit"] or environment.default_memory(
                    slots_of_machine(folder, slots)
                )
                job = Job(**fields, data_folder=folder, log=folder / "workers.log")
                self._jobs[package.name] = _Running(job, last_used=time.monotonic())
            return Accepted(machine)

    def _differences(self, fingerprint: Fingerprint) -> tuple[str, ...]:
        """Return how this process differs from the driver, rereading the files for each new driver."""
        text = repr(fingerprint)
        if text in self._accepted:
            return ()
        forget()
        if host_code() != _HOST_AT_START:
            return ("mfbench was changed after this worker had started; restart it",)
        reasons = tuple(differences(fingerprint, fingerprint_of(fingerprint.code)))
        if not reasons:
            self._accepted.add(text)
        return reasons

    # -- trials -----------------------------------------------------------------------------------------------------

    def _run(self, batch: RunBatch, slots: int, is_wanted: Callable[[], bool]) -> Message:
        with self._lock:
            running = self._jobs.get(batch.job)
            if running is None:
                return Missing(True, (), self._machine)
            running.in_use += 1
        try:
            missing = self._lease(running, batch)
            if missing:
                return Missing(False, missing, self._machine)
            with self._pool(running, slots, is_wanted) as pool:
                pool.submit(batch.trials)
                return Answered(tuple(result for _, result in pool.collect()), self._machine)
        except WithdrawnError:
            return Withdrawn()
        finally:
            with self._lock:
                running.in_use -= 1
                running.last_used = time.monotonic()
                self._clean_later()

    def _lease(self, running: _Running, batch: RunBatch) -> tuple[str, ...]:
        """Protect a batch's arrays from removal; return the names of missing ones."""
        missing = []
        for name in batch.arrays:
            if name in running.leases:
                continue
            lease = self._cache.fetch(name, Path(batch.shared))
            if lease is None:
                missing.append(name)
                continue
            with self._lock:
                twice = running.leases.setdefault(name, lease)
            if twice is not lease:
                lease.close()
        return tuple(missing)

    @contextmanager
    def _pool(self, running: _Running, slots: int, is_wanted: Callable[[], bool]) -> Iterator[LocalPool]:
        """Check out a pool with one worker; close it if anything fails."""
        with self._lock:
            pool = running.idle.pop()[1] if running.idle else None
            others = [] if pool is not None else self._surplus(slots)
        for other in others:
            other.close()
        if pool is None:
            pool = LocalPool(1)
            pool.start(running.job)
        pool.is_wanted = is_wanted
        try:
            yield pool
        except BaseException:
            pool.close()
            raise
        with self._lock:
            running.idle.append((time.monotonic(), pool))

    def _surplus(self, slots: int) -> list[LocalPool]:
        """Remove idle pools of other jobs that, with a new one, would exceed the number of slots."""
        idle = [(since, running, pool) for running in self._jobs.values() for since, pool in running.idle]
        busy = sum(running.in_use for running in self._jobs.values())
        surplus = sorted(idle, key=lambda entry: entry[0])[: max(0, len(idle) + busy - slots)]
        for since, running, pool in surplus:
            running.idle.remove((since, pool))
        return [pool for _, _, pool in surplus]

    # -- the end ----------------------------------------------------------------------------------------------------

    def close(self, *, older_than: float = 0.0) -> None:
        """Close pools that have been idle for some seconds, and drop jobs that are no longer needed."""
        now = time.monotonic()
        closing: list[LocalPool] = []
        with self._lock:
            for name, running in list(self._jobs.items()):
                closing += [pool for since, pool in running.idle if now - since >= older_than]
                running.idle = [(since, pool) for since, pool in running.idle if now - since < older_than]
                age = now - running.last_used
                if not running.in_use and not running.idle and (not older_than or age >= FORGOTTEN):
                    del self._jobs[name]
                    for lease in running.leases.values():
                        lease.close()
        for pool in closing:
            pool.close()

    def _clean_later(self) -> None:
        if self._cleaner is None or not self._cleaner.is_alive():
            self._cleaner = threading.Thread(target=self._clean, name="mfbench-service", daemon=True)
            self._cleaner.start()

    def _clean(self) -> None:
        while True:
            time.sleep(self._idle / 4)
            with contextlib.suppress(OSError):  # a folder may be gone; the next call reports it
                self.close(older_than=self._idle)
            with self._lock:
                if not self._jobs:
                    self._cleaner = None
                    return


_service = WorkerService()


def _renew() -> None:
    """Start afresh in a forked process, which does not own its parent's threads and children."""
    global _service
    _service = WorkerService()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def slots_of_machine(folder: Path, slots: int) -> int:
    """Return the number of concurrent trials of all worker pools on this machine that have started so far."""
    folder = folder / "places"
    folder.mkdir(parents=True, exist_ok=True)
    host, total = platform.node(), 0
    (folder / f"{host}-{os.getpid()}").write_text(str(slots), encoding="ascii")
    for path in folder.glob(f"{host}-*"):
        if psutil.pid_exists(int(path.name.rpartition("-")[2])):
            total += int(path.read_text(encoding="ascii") or 0)  # empty while another process writes it
        else:
            path.unlink(missing_ok=True)
    return total
