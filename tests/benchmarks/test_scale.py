"""The cost of Dask: its overhead per call and per trial, and the gain from a second worker.

Run: ``pytest tests/benchmarks/test_scale.py --benchmark-only``, on a machine with nothing else to do. Dask's scheduler,
the driver and the workers share its processors. Nothing here asserts a time.
"""

import os
import signal
import sqlite3
import threading
import time
from contextlib import closing, contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from mfbench.api import Request, prepare_suite
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute
from mfbench_cluster.hooks import mfbench_pool

SUITE = """
[suite]
name = "noop"
[protocol]
folds = 5
repeats = {repeats}
[profiles.quick]
folds = 5
repeats = {repeats}
[[datasets]]
use = ["iris"]
[[methods]]
label = "N"
classifier = "{classifier}"
"""
PLUGIN = """
import time
from mfbench import ClassifierSpec, hookimpl
from sklearn.dummy import DummyClassifier

class Waiting(DummyClassifier):
    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)

class Computing(DummyClassifier):
    def fit(self, X, y):
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
        return super().fit(X, y)

@hookimpl
def mfbench_classifiers():
    return [
        ClassifierSpec(name="waiting", summary="100 ms", factory="scale_plugin:Waiting"),
        ClassifierSpec(name="computing", summary="100 ms", factory="scale_plugin:Computing"),
    ]
"""


@contextmanager
def cluster_of(n_workers):
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0, "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, processes=True, **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def plugin(tmp_path, monkeypatch):
    (tmp_path / "scale_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "all,scale_plugin")


def seconds(folder, trials, classifier="dummy", scheduler=""):
    """Run that many trials from nothing; return the seconds. Without a scheduler, on one process of this machine."""
    path = folder / f"noop-{trials}-{classifier}.toml"
    path.write_text(SUITE.format(repeats=trials // 5, classifier=classifier))
    plan, target, registry = prepare_suite(Request(str(path), out=folder))
    executor = "dask" if scheduler else "local"
    options = RunOptions(jobs=1, fresh=True, executor=executor, scheduler=scheduler)
    begin = time.perf_counter()
    execute(plan, target, registry, options, Silent(), make_pool=mfbench_pool)
    return time.perf_counter() - begin


def slope(folder, scheduler=""):
    """Return milliseconds per tiny trial, from runs of two sizes: what a run costs once is in both."""
    small, large = (min(seconds(folder, n, scheduler=scheduler) for _ in range(3)) for n in (500, 2500))
    return 1000 * (large - small) / 2000


def test_overhead_per_trial(benchmark, tmp_path):
    with cluster_of(1) as scheduler:
        seconds(tmp_path, 50, scheduler=scheduler)
        dask = benchmark.pedantic(slope, args=(tmp_path, scheduler), rounds=1)
    local = slope(tmp_path)
    benchmark.extra_info |= {"local_ms_per_trial": local, "dask_ms_per_trial": dask, "ratio": dask / local}


def test_overhead_per_call(benchmark):
    from mfbench_cluster.dask.engine import DaskEngine

    def work(engine, first, number, window=16):
        sent = ended = 0
        begin = time.perf_counter()
        while ended < number:
            while sent < number and sent - ended < window:
                engine.submit(first + sent, b"x" * 2000)
                sent += 1
            ended += len(engine.wait(10))
        return 1000 * (time.perf_counter() - begin) / number

    with cluster_of(2) as scheduler, DaskEngine(scheduler, target="builtins:bytes") as engine:
        work(engine, 0, 200)
        benchmark.pedantic(work, args=(engine, 1000, 1000), rounds=1)
        times = [work(engine, 10_000 * turn, 1000) for turn in range(1, 4)]
    benchmark.extra_info |= {"ms_per_call": float(np.median(times))}


@pytest.mark.parametrize("classifier", ["waiting", "computing"])
def test_second_worker(benchmark, tmp_path, classifier):
    def measure(n_workers):
        with cluster_of(n_workers) as scheduler:
            seconds(tmp_path, 20, classifier, scheduler)
            return seconds(tmp_path, 200, classifier, scheduler)

    two = benchmark.pedantic(measure, args=(2,), rounds=1)
    pairs = [(measure(1), measure(2)) for _ in range(2)]
    benchmark.extra_info |= {
        "two_workers_seconds": two,
        "throughput_ratio": float(np.median([one / both for one, both in pairs])),
    }


def test_a_worker_is_killed_every_five_seconds(benchmark, tmp_path):
    """Run 1,000 trials of 100 ms on two workers that are killed in turn; their nannies start new ones."""
    from distributed import LocalCluster

    killed, ended = [], threading.Event()

    def kill(cluster):
        while not ended.wait(5):
            nanny = cluster.workers[len(killed) % 2]
            if nanny.pid:
                os.kill(nanny.pid, signal.SIGKILL)
                killed.append(nanny.pid)

    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0, "silence_logs": 50}
    with LocalCluster(n_workers=2, processes=True, **options) as cluster:
        killer = threading.Thread(target=kill, args=(cluster,))
        killer.start()
        try:
            benchmark.pedantic(seconds, args=(tmp_path, 1000, "waiting", cluster.scheduler_address), rounds=1)
        finally:
            ended.set()
            killer.join()
    (store,) = tmp_path.rglob("results.sqlite")
    with closing(sqlite3.connect(store)) as db:
        rows = dict(db.execute("SELECT status, count(DISTINCT key) FROM trials GROUP BY status"))
    benchmark.extra_info |= {"rows": rows, "kills": len(killed)}
    assert rows == {"ok": 1000}
