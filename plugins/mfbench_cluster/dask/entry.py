"""The part of a call that reaches a worker as text.

A function that is sent by reference must be importable wherever Dask reads the message: a worker without mfbench would
lose its connection instead of answering. The source of this module's function is sent instead, so such a worker can
say what it lacks.
"""

from __future__ import annotations

import inspect
import textwrap

Answer = tuple[str, bytes | None, str]
"""The address of a worker, its answer, and the reason why there is none."""


def run(target, payload):  # type: ignore[no-untyped-def]
    """Run a call on a worker of Dask; the source of this function is sent, so it refers to nothing outside it."""
    import importlib

    import distributed

    address = distributed.get_worker().address
    try:
        module, _, name = target.partition(":")
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 - a package that is installed by half may raise anything
        return address, None, f"cannot import mfbench ({type(error).__name__}: {error})"
    try:
        return address, function(payload), ""
    except Exception as error:  # noqa: BLE001 - the reason reaches the user, with the worker's name
        return address, None, f"failed ({type(error).__name__}: {error})"


EXPRESSION = "exec(source) or run(target, payload)"
"""What `eval` computes on the worker, in the namespace of a `request`."""
_SOURCE = textwrap.dedent(inspect.getsource(run))


def request(target: str, payload: bytes) -> dict[str, object]:
    """Return the namespace in which a worker evaluates `EXPRESSION`."""
    return {"source": _SOURCE, "target": target, "payload": payload}
