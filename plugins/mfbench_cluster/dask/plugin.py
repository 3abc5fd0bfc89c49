"""Registers the executor "dask"; Dask itself is only imported when a run uses it."""

from __future__ import annotations

from mfbench import ExecutorSpec, hookimpl


@hookimpl
def mfbench_executors() -> list[ExecutorSpec]:
    """Return the engine for Dask."""
    return [
        ExecutorSpec(
            name="dask",
            summary="The workers of a Dask cluster, on this machine or on others",
            factory="mfbench_cluster.dask.engine:DaskEngine",
            install="mfbench[dask]",
        )
    ]
