"""A call in a child: whatever the function does, there is a value or an error, and nothing is left running."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from mfbench.processes.call import ChildError, call

HOSTILE = """
import ctypes, mmap, os, subprocess, sys, time

def leave(): sys.exit(0)
def vanish(): os._exit(0)
def loop():
    while True: pass
def segfault(): ctypes.string_at(0)
def babble():
    print("x" * 10_000_000)
    os._exit(0)
def greed(): return bytearray(3 * 2**30)
def share():
    area = mmap.mmap(-1, 3 * 2**30)
    for start in range(0, len(area), 2**20):
        area[start : start + 2**20] = b"x" * 2**20
    time.sleep(100)
def raise_the_limit():
    import contextlib, resource
    with contextlib.suppress(ValueError):  # the superuser may
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    area = b"x" * (3 * 2**30)
    time.sleep(100)
def escape(number):
    subprocess.Popen(["setsid", "sleep", number], start_new_session=True)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvpe("sleep", ["sleep", number], {})
        os._exit(0)
    os.waitpid(pid, 0)
    return "fine"
class Rude(Exception):
    def __str__(self): raise ValueError
def surrogate(): raise ValueError("\\ud800")
def rude(): raise Rude
class Mine: pass
def mine(): return Mine()
"""


@pytest.fixture
def hostile(tmp_path):
    (tmp_path / "hostile_functions.py").write_text(HOSTILE)

    def run(name, *args, **options):
        return call(f"hostile_functions:{name}", *args, path=[str(tmp_path), *sys.path], **options)

    return run


def test_no_failure_is_silent(subtests, hostile):
    for name, kind, words in [
        ("leave", "error", "SystemExit: 0"),
        ("vanish", "crash", "ended with exit code 0"),
        ("segfault", "crash", "was killed by SIGSEGV"),
        ("babble", "crash", "ended with exit code 0"),
        ("surrogate", "error", r"ValueError: \ud800"),
        ("rude", "error", "Rude: its message cannot be shown, __str__ raised ValueError"),
        ("mine", "error", "No module named 'hostile_functions'"),
        ("no_such_function", "error", "no_such_function"),
    ]:
        with subtests.test(name=name, kind=kind, words=words):
            with pytest.raises(ChildError) as caught:
                hostile(name, timeout=60)
            assert (caught.value.kind, words in str(caught.value)) == (kind, True), str(caught.value)
            assert "hostile_functions" not in sys.modules


def test_an_endless_loop_is_stopped(hostile):
    with pytest.raises(ChildError, match=r"longer than 0\.5 s") as caught:
        hostile("loop", timeout=0.5)
    assert caught.value.kind == "timeout"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits memory")
def test_the_memory_limit_holds(subtests, hostile):
    for name in ["greed", "share", "raise_the_limit"]:
        with subtests.test(name=name):
            with pytest.raises(ChildError) as caught:
                hostile(name, timeout=60, memory=2**30)
            assert caught.value.kind == "memory", str(caught.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a process adopt orphans")
def test_no_process_outlives_the_call(hostile):
    assert hostile("escape", "98765") == "fine"
    end = time.monotonic() + 20
    while _sleepers("98765"):
        assert time.monotonic() < end
        time.sleep(0.01)


def _sleepers(number):
    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] and number in p.info["cmdline"]]


def test_values_arguments_and_output(tmp_path):
    assert call("math:hypot", 3.0, 4.0) == 5.0
    assert call(len, "x" * 3_000_000) == 3_000_000  # more than a socket holds
    assert len(call("builtins:bytes", 3_000_000)) == 3_000_000
    assert call("pathlib:Path", "a") == Path("a")
    log = tmp_path / "log"
    assert call("os:system", "echo from a child", log=log) == 0
    assert log.read_text() == "from a child\n"
