"""The page of a run under way: what it shows, to whom, how often it reads, and that it leaves nothing behind."""

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from mfbench.model.trials import TrialResult
from mfbench.report.progress import in_words
from mfbench_watch import state as state_module
from mfbench_watch.server import make_server
from mfbench_watch.state import LEAST_PAUSE, SHARE, Reading, Watched

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture
def run(write_run, failure):
    cells = {
        ("iris", "A"): [0.9, 0.8, 0.9, 0.9, 0.9],
        ("iris", HOSTILE): [0.5, failure(), 0.5, 0.5, 0.5],
        ("wine", "A"): [0.7, None, None, None, None],
        ("wine", HOSTILE): None,
    }
    run = write_run({place: content or [None] * 5 for place, content in cells.items()})
    run.meta.names.update({"A": "Alpha"})
    return run


@pytest.fixture
def serve(run):
    """Return a function that asks for a path, with headers, and returns status, headers and text."""
    server = make_server(Watched(run.path))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def ask(path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    yield ask
    server.shutdown()
    server.server_close()


def test_cells_fill_and_the_rest_is_estimated(run):
    state = json.loads(Watched(run.path).as_json())
    assert state["cells"] == [
        ["iris", "A", 5, 5, 0, "88.0"],
        ["iris", HOSTILE, 5, 5, 1, "50.0"],
        ["wine", "A", 5, 1, 0, "70.0"],
        ["wine", HOSTILE, 5, 0, 0, ""],
    ]
    assert (state["done"], state["total"], state["metric"]) == (11, 20, "accuracy, percent")
    assert (state["methods"], state["datasets"]) == (["A", HOSTILE], ["iris", "wine"])
    assert state["state"].startswith("11 of 20 trials have run; 1 failed")
    assert state["answer"]
    assert re.fullmatch(r"\d+ s", state["left"])
    assert state["age"].endswith(" s ago")


def test_the_remaining_time_is_that_of_the_methods_shared_by_the_workers(write_run):
    def took(seconds):
        return TrialResult(key="", scores={"accuracy": 0.5}, duration=seconds)

    cells = {("d", "A"): [took(60.0), None, None], ("d", "B"): [took(20.0), took(20.0), None], ("d", "C"): [None] * 3}
    run = write_run(cells, folds=3)
    state = json.loads(Watched(run.path).as_json())
    # Two trials of A, one of B, and three of C, of which none has ended, so that it is taken to be like the others.
    left = (2 * 60.0 + 20.0 + 3 * 100.0 / 3) / run.meta.environment.jobs
    assert state["left"] == in_words(left)


def test_the_page_may_only_ask_its_own_server(serve):
    status, headers, text = serve("/")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")
    assert "http" not in text.replace("<!doctype html>", "")


def test_names_are_data(serve):
    status, headers, text = serve("/state")
    assert (status, headers.get_content_type()) == (200, "application/json")
    assert HOSTILE in json.loads(text)["methods"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", ""])
def test_another_host_is_refused(serve, host):
    for path in ("/", "/state"):
        status, _, text = serve(path, Host=host)
        assert status == 421
        assert "Alpha" not in text and "iris" not in text


def test_nothing_else_is_served(serve):
    assert serve("/../results.sqlite")[0] == 404
    assert serve("/results.sqlite")[0] == 404
    assert serve("/state", "POST")[0] == 501


def test_it_reads_and_never_writes(run, serve):
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    for _ in range(3):
        assert serve("/state")[0] == 200
    assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before


def test_a_folder_that_is_gone_is_an_answer(tmp_path):
    server = make_server(Watched(tmp_path / "gone"))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", "/state")
    assert connection.getresponse().status == 503
    server.shutdown()
    server.server_close()


def test_reading_takes_a_small_share_of_a_processor(monkeypatch):
    now = {"wall": 0.0, "processor": 0.0}
    monkeypatch.setattr(state_module.time, "monotonic", lambda: now["wall"])
    monkeypatch.setattr(state_module.time, "thread_time", lambda: now["processor"])

    def slow():
        now["wall"] += 1.0
        now["processor"] += 1.0
        return now["wall"]

    reading = Reading()
    while now["wall"] < 10_000.0:
        reading.read(slow)
        now["wall"] += 2.0
    assert now["processor"] <= 1.0 + SHARE * now["wall"]
    assert reading.read(slow) == reading.value
    assert LEAST_PAUSE >= 1.0


def test_ctrl_c_ends_it_without_a_trace(run):
    words = [sys.executable, "-m", "mfbench", "watch", str(run.path)]
    before = sorted(path.name for path in run.path.iterdir())
    # A shell starts what runs in the background with SIGINT ignored; a terminal does not.
    options = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler), "text": True}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        address = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", address)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        try:
            out, problems = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (out, problems) == ("", "")
    assert sorted(path.name for path in run.path.iterdir()) == before
