"""Which cluster a text means: one of this machine, an address, or the file that a scheduler has written."""

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
# Seconds to wait for the first answer of a scheduler.
_CONNECT = 10.0
# Seconds to wait for the end of a connection.
_END = 5.0
# How Dask's nanny calls the process of a worker.
_NAME = "Dask Worker process"
_MAIN = "mfbench_cluster.dask.worker_main"
# A scheme that Dask knows, a host and a port; or a scheduler in this process.
_ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://[^/]+:[1-9][0-9]{0,4}|inproc://.+")
# Settings of a cluster of our own. A worker holds one task besides those that run, so that the last ones of a run
# are not behind a long one; a worker that has stopped answering is given up after a minute.
_LOCAL = {"distributed.scheduler.worker-saturation": 1.0, "distributed.scheduler.worker-ttl": "60s"}


def is_local(scheduler: str) -> bool:
    """Tell whether a text means a cluster of this machine that ends with the run."""
    return scheduler in ("", "local")


def check_scheduler(scheduler: str) -> None:
    """Refuse a text that means no scheduler."""
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


# What is behind an error, the most specific first.
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
    """Start a cluster of this machine: one process with one thread per job."""
    folder = stack.enter_context(temporary_folder("dask"))
    stack.enter_context(dask.config.set(_LOCAL))
    stack.enter_context(_own_main())
    cluster = LocalCluster(
        n_workers=jobs,
        threads_per_worker=1,
        processes=True,
        host=_HOST,
        dashboard_address=None,
        # Without a dashboard there is a server of HTTP none the less: at no fixed port, and for this machine alone.
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
    """Have workers run `worker_main` instead of the main script, which `multiprocessing` runs in a new process."""
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
    """Return a client of a scheduler."""
    address: dict[str, Any] = {"address": scheduler}
    if isinstance(scheduler, str) and "://" not in scheduler:
        address = {"scheduler_file": scheduler}
    client: Client | None = None
    try:
        client = Client(**address, asynchronous=True, timeout=_CONNECT, set_as_default=False)
        # Dask's limit of time ends when a connection is accepted, whoever accepts it.
        await asyncio.wait_for(_started(client), 2 * _CONNECT)
    except Exception as error:  # an address that cannot be read, the file of something else, a refused connection
        if client is not None:
            await close(client)
        where = scheduler if isinstance(scheduler, str) else "of this machine"
        raise RunError(f"cannot reach the Dask scheduler {where}: {_reason(error)}") from error
    return client


def _reason(error: BaseException) -> str:
    """Return why there is no connection, as one clause."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    for kind, reason in _REASONS:
        if any(isinstance(cause, kind) for cause in causes):
            return reason
    return describe_error(causes[-1]).splitlines()[0]


async def close(client: Client) -> None:
    """Close a client, in a state of any kind."""
    with contextlib.suppress(OSError, TimeoutError):  # the scheduler may have gone
        await asyncio.wait_for(client.close(_END), _END)


async def _started(client: Client) -> None:
    await client
