"""The entry point through which an engine has a call answered, by the package of the remote worker pool."""

from collections.abc import Callable

from mfbench.host.features import NAMES, entries


def answer(payload: bytes, *, slots: int, is_wanted: Callable[[], bool]) -> bytes:
    """Return the answer to a call; see `mfbench.engines.Engine`."""
    reply: bytes = entries(NAMES)[0]["_answer_call"].load()(payload, slots=slots, is_wanted=is_wanted)
    return reply
