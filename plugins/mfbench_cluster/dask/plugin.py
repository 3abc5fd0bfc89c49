"""Registers the executor "dask"; Dask itself is imported when a run asks for it."""

from __future__ import annotations

from mfbench import ExecutorSpec, hookimpl


@hookimpl
def mfbench_executors() -> list[ExecutorSpec]:
    """Return the engine over Dask."""
    return [
        ExecutorSpec(
            name="dask",
            summary="The workers of a Dask cluster, on this machine or on others",
            factory="mfbench_cluster.dask.engine:DaskEngine",
            install="mfbench[dask]",
        )
    ]
