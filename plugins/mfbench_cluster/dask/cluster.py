"""Resolve a scheduler option: a local cluster, an address, or a scheduler file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from multiprocessing import spawn
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError

from mfbench.errors import RunError, UsageError, describe_error
from mfbench.processes.temporary import temporary_folder

_HOST = "127.0.0.1"
# Seconds to wait for a scheduler's first response.
_CONNECT = 10.0
# Seconds to wait for a connection to close.
_END = 5.0
# The process name of workers started by Dask's nanny.
_NAME = "Dask Worker process"
_MAIN = "mfbench_cluster.dask.worker_main"
# A Dask protocol with host and port, or a scheduler in this process.
_ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://[^/]+:[1-9][0-9]{0,4}|inproc://.+")
# Settings of a local cluster. A worker queues only one task beyond the running ones, so that the last trials of a run
# do not wait behind a long one; a worker that stops responding is dropped after a minute.
_LOCAL = {"distributed.scheduler.worker-saturation": 1.0, "distributed.scheduler.worker-ttl": "60s"}


def is_local(scheduler: str) -> bool:
    """Return whether an option means a local cluster that ends with the run."""
    return scheduler in ("", "local")


def check_scheduler(scheduler: str) -> None:
    """Reject an option that is not a valid scheduler."""
    if is_local(scheduler) or _ADDRESS.fullmatch(scheduler):
        return
    if not scheduler.endswith(".json"):
        raise UsageError(
            f"--scheduler {scheduler!r} is not an address of a Dask scheduler: write local, an address such as "
            "tcp://10.0.0.1:8786, or the path of a scheduler file (.json)"
        )
    if not Path(scheduler).is_file():
        raise UsageError(
            f"the scheduler file {scheduler} does not exist: start the scheduler with "
            f"`dask scheduler --scheduler-file {scheduler}`"
        )


# Causes of connection errors, most specific first.
_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "its host name is not known"),
    (ConnectionRefusedError, "nothing listens at this address"),
    (ssl.SSLError, "it does not accept the certificate, or its own is not accepted"),
    (json.JSONDecodeError, "the file is not one that a scheduler has written"),
    (KeyError, "the file is not one that a scheduler has written"),
    (TimeoutError, "there is no answer"),
    (
        CommClosedError,
        "the connection was closed; is it a scheduler, of this version of Dask?",
    ),
)


async def start_cluster(jobs: int, stack: AsyncExitStack) -> LocalCluster:
    """Start a local cluster: one single-threaded process per job."""
    folder = stack.enter_context(temporary_folder("dask"))
    stack.enter_context(dask.config.set(_LOCAL))
    stack.enter_context(_own_main())
    cluster = LocalCluster(
        n_workers=jobs,
        threads_per_worker=1,
        processes=True,
        host=_HOST,
        dashboard_address=None,
        # Dask starts an HTTP server even without a dashboard: use a free port and only the local interface.
        scheduler_kwargs={"dashboard_address": f"{_HOST}:0"},
        memory_limit=0,  # mfbench limits the memory of its own processes
        local_directory=str(folder),
        silence_logs=logging.CRITICAL,
        asynchronous=True,
    )
    try:
        return await stack.enter_async_context(cluster)
    except Exception as error:
        raise RunError(f"cannot start Dask workers on this machine: {describe_error(error)}") from error


@contextmanager
def _own_main() -> Iterator[None]:
    """Make workers import `worker_main` instead of the main script, which `multiprocessing` would rerun in each."""
    prepare = spawn.get_preparation_data

    def prepare_worker(name: str) -> dict[str, Any]:
        data = prepare(name)
        if name.startswith(_NAME):
            data.pop("init_main_from_path", None)
            data["init_main_from_name"] = _MAIN
        return data

    spawn.get_preparation_data = prepare_worker
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare


async def connect(scheduler: str | LocalCluster) -> Client:
    """Return a client connected to a scheduler."""
    address: dict[str, Any] = {"address": scheduler}
    if isinstance(scheduler, str) and "://" not in scheduler:
        address = {"scheduler_file": scheduler}
    client: Client | None = None
    try:
        client = Client(**address, asynchronous=True, timeout=_CONNECT, set_as_default=False)
        # Dask's timeout ends once any server accepts the connection, even if it is not a scheduler.
        await asyncio.wait_for(_started(client), 2 * _CONNECT)
    except Exception as error:  # an invalid address, an unrelated file, or a refused connection
        if client is not None:
            await close(client)
        where = scheduler if isinstance(scheduler, str) else "of this machine"
        raise RunError(f"cannot reach the Dask scheduler {where}: {_reason(error)}") from error
    return client


def _reason(error: BaseException) -> str:
    """Return the reason for a failed connection, as one clause."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    for kind, reason in _REASONS:
        if any(isinstance(cause, kind) for cause in causes):
            return reason
    return describe_error(causes[-1]).splitlines()[0]


async def close(client: Client) -> None:
    """Close a client, regardless of its state."""
    with contextlib.suppress(OSError, TimeoutError):  # the scheduler may be gone
        await asyncio.wait_for(client.close(_END), _END)


async def _started(client: Client) -> None:
    await client
