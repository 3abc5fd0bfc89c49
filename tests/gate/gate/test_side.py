"""Replicates with a harness of a few lines, which starts at once and misbehaves on request."""

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from mfbench.model.trials import Trial
from mfbench_gate.gate.side import ReplicateError, RunningReplicate

HARNESS = """
import json, os, subprocess, sys, time

def main(order):
    behaviour = open(order).read()
    if behaviour == "refuses":
        print(json.dumps({"failed": "no plugin loads"}), flush=True)
        return 1
    if behaviour == "imports":
        import nothing
    if behaviour == "dies":
        os._exit(7)
    print(json.dumps({"missing": {"Z": "unknown"}, "judged": {}}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if not request:
            print(json.dumps({"python": "3"}), flush=True)
            continue
        method = request["trial"]["method"]
        if method == "hang":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open(order + ".child", "w").write(str(child.pid))
            time.sleep(600)
        if method == "fork and crash":
            child = os.fork()
            if not child:
                os.close(1)  # as a replicate does in every child
                time.sleep(600)
            open(order + ".child", "w").write(str(child))
            os._exit(3)
        if method == "crash":
            os._exit(3)
        if method == "babble":
            print("hello", flush=True)
            continue
        variables = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "PYTHONPATH")}
        print(json.dumps({"status": "ok", "rounds": request["rounds"], "variables": variables}), flush=True)
    return 0
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    package = tmp_path / "harness" / "mfbench_gate" / "gate"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "replicate.py").write_text(HARNESS)

    def make(behaviour="serves", timeout=60.0):
        order = tmp_path / "order"
        order.write_text(behaviour)
        return RunningReplicate(Path(sys.executable), tmp_path / "harness", order, timeout)

    return make


def trial(method):
    return Trial("", "d", method, 0, 0, 1)


def has_ended(pid):
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_it_runs_the_gates_own_harness_on_one_thread(start):
    with start() as replicate:
        assert replicate.missing == {"Z": "unknown"}
        assert replicate.versions() == {"python": "3"}
        answer = replicate.run(trial("A"), 3)
        assert answer["rounds"] == 3
        assert answer["variables"] == {"OMP_NUM_THREADS": "1", "PYTHONPATH": None}
        assert replicate.is_alive
    assert not replicate.is_alive


@pytest.mark.parametrize(
    ("behaviour", "message"), [("refuses", "cannot start: no plugin loads"), ("dies", "ended with exit code 7")]
)
def test_a_process_that_does_not_start(start, behaviour, message):
    with pytest.raises(ReplicateError, match=message), start(behaviour):
        pass


def test_a_trial_that_ends_the_process(start):
    with start() as replicate:
        answer = replicate.run(trial("crash"), 1)
        assert answer == {"status": "crash", "message": "the process ended with exit code 3"}
        assert not replicate.is_alive


def test_a_trial_that_hangs_is_ended_with_its_children(start, tmp_path):
    with start(timeout=0.5) as replicate:
        begin = time.monotonic()
        answer = replicate.run(trial("hang"), 1)
        assert answer == {"status": "timeout", "message": "the process did not answer within 1 s"}
        assert time.monotonic() - begin < 60
    child = int((tmp_path / "order.child").read_text())
    assert has_ended(child)


def test_the_end_of_the_budget_ends_a_trial(start):
    with start() as replicate:
        answer = replicate.run(trial("hang"), 1, left=0.1)
        assert answer == {"status": "timeout", "message": "the process did not answer within 1 s"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_dies_leaves_no_child_and_is_not_waited_for(start, tmp_path):
    with start() as replicate:
        begin = time.monotonic()
        answer = replicate.run(trial("fork and crash"), 1)
        assert answer == {"status": "crash", "message": "the process ended with exit code 3"}
        assert time.monotonic() - begin < 30
    child = int((tmp_path / "order.child").read_text())
    assert has_ended(child)


def test_a_process_that_does_not_start_has_last_words(start):
    words = "ended with exit code 1; ModuleNotFoundError: No module named 'nothing'"
    with pytest.raises(ReplicateError, match=words), start("imports"):
        pass


def test_an_answer_that_is_none_ends_the_process(start):
    with start() as replicate:
        answer = replicate.run(trial("babble"), 1)
        assert answer["status"] == "crash"
        assert answer["message"] == "the process wrote something else than an answer: 'hello'"
        assert not replicate.is_alive
