"""What reaches a worker as text."""

import builtins

import pytest

from mfbench_cluster.dask import session

distributed = pytest.importorskip("distributed", reason="Dask is not installed")


class Somewhere:
    address = "tcp://somewhere:1"


@pytest.fixture
def evaluate(monkeypatch):
    monkeypatch.setattr(distributed, "get_worker", Somewhere)
    return lambda target, payload: eval(session.EXPRESSION, session.request(target, payload))


def test_the_text_calls_the_target(evaluate):
    assert evaluate("builtins:bytes.fromhex", b"") == (
        "tcp://somewhere:1",
        None,
        "cannot import mfbench (AttributeError: module 'builtins' has no attribute 'bytes.fromhex')",
    )
    assert evaluate("builtins:bytes", b"payload") == ("tcp://somewhere:1", b"payload", "")


def test_a_worker_without_mfbench_says_so(evaluate):
    _, answer, reason = evaluate("no_such_package.calls:answer", b"")
    assert answer is None
    assert reason == "cannot import mfbench (ModuleNotFoundError: No module named 'no_such_package')"


def test_an_error_of_the_target_is_a_reason(evaluate):
    assert evaluate("builtins:float", b"x")[1:] == (
        None,
        "failed (ValueError: could not convert string to float: b'x')",
    )


def test_it_refers_to_nothing_outside_itself():
    namespace = session.request("", b"")
    exec(namespace["source"], namespace)
    names = set(namespace["run"].__code__.co_names)
    assert all(hasattr(builtins, name) or name in _ATTRIBUTES for name in names), names


_ATTRIBUTES = {"importlib", "distributed", "get_worker", "address", "partition", "import_module", "__name__"}
