"""One call in its own child process: returns a value or raises `ChildError`."""

import os
import pickle
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from mfbench.errors import MfbenchError, describe_error
from mfbench.processes.channel import Channel, framed, receive, wait
from mfbench.processes.child import Child, open_child
from mfbench.processes.monitor import Ended
from mfbench.processes.process import describe_exit, limit_memory

Kind = Literal["error", "crash", "timeout", "memory"]


class ChildError(MfbenchError):
    """A call in a child process returned no value."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def call(
    function: str | Callable[..., Any],
    *args: Any,
    timeout: float | None = None,
    memory: int = 0,
    path: Sequence[str] = (),
    log: Path | None = None,
    preload: Sequence[str] = (),
) -> Any:
    """Call a function in a child process, then kill the child and all its descendants."""
    request = pickle.dumps((function, args))
    child = open_child(preload)
    try:
        sink = Path(os.devnull) if log is None else log
        channel = child.start(f"{__name__}:answer", memory, memory=memory, log=sink, path=path)
        channel.send(request)
        kind, value = _wait(child, channel, timeout)
    finally:
        child.close()
    if kind != "value":
        raise ChildError(kind, value)
    return value


def _wait(child: Child, channel: Channel, timeout: float | None) -> tuple[Any, Any]:
    """Return the answer, or the kind of failure and its message."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        patience = None if end is None else max(0.0, end - time.monotonic())
        if not wait([child.control, channel], patience) and patience == 0.0:
            return "timeout", f"it took longer than {timeout:g} s and was stopped"
        channel.flush()
        ended = next((event for event in child.events() if isinstance(event, Ended)), None)
        for message in channel.messages():
            try:
                kind, value = pickle.loads(message)  # nosec B301  # from a child of this process
            except Exception as error:  # noqa: BLE001 - the class of the result may not be importable here
                return "error", f"what it returned cannot be used: {error}"
            return kind, value
        if ended is not None and ended.is_memory:
            return "memory", "its processes together exceeded the memory limit"
        if ended is not None:
            return "crash", f"the process {describe_exit(ended.code)}"
        if child.control.is_closed:
            return "crash", "the process and its monitor were killed"


def answer(channel: socket.socket, memory: int) -> None:
    """Serve one call; runs in the child."""
    request = receive(channel)
    if request is None:
        return
    limit_memory(memory)
    try:
        function, args = pickle.loads(request)  # nosec B301  # from the parent process
        if isinstance(function, str):
            function = resolve_name(function)
        reply = pickle.dumps(("value", function(*args)))
    except MemoryError as error:
        reply = pickle.dumps(("memory", str(error) or "the memory limit was reached"))
    except BaseException as error:  # noqa: BLE001 - sys.exit() in the function counts as a failure too
        reply = pickle.dumps(("error", describe_error(error)))
    sys.stdout.flush()
    channel.sendall(framed(reply))
