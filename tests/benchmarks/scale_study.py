"""How busy a driver keeps 1,000 workers, and how many trials a second it stores: run this file as a script.

The cluster is simulated in virtual time: a trial takes a second of it, an answer some milliseconds, and whatever the
driver computes counts as it is measured. The driver is the real one, with the store of a run. The times of answers are
those of a Dask cluster of one machine; ``python tests/benchmarks/scale_study.py record`` measures them again.
"""

import json
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run" / "workers"))

from fake import FINGERPRINT, METHODS, FakeEngine, job_of, trials_of

from mfbench.run.store.store import Store
from mfbench_cluster.pool.remote import RemotePool

RECORDED = Path(__file__).with_name("scale_latencies.json")
LATENCIES = tuple(ms / 1000 for ms in json.loads(RECORDED.read_text())["milliseconds"])
"""Seconds from the end of a call to its answer in the driver, equally likely."""
TARGET = """
import time

def end(payload):
    time.sleep(0.02)
    return repr(time.monotonic()).encode()
"""


def record(n_calls=1000, window=16):
    """Write the quantiles of the times that answers of a Dask cluster of two workers take to the driver."""
    from mfbench_cluster.dask.engine import DaskEngine

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scale_target.py").write_text(TARGET)
        sys.path.insert(0, folder)  # workers take it over
        seconds, sent = [], 0
        with DaskEngine("local", 2, "scale_target:end") as engine:
            while len(seconds) < n_calls:
                while sent < n_calls and sent - len(seconds) < window:
                    engine.submit(sent, b"x" * 2000)
                    sent += 1
                outcomes = engine.wait(10)
                now = time.monotonic()  # which all processes of a Linux machine share
                assert all(outcome.answer for outcome in outcomes), outcomes
                seconds += [now - float(outcome.answer) for outcome in outcomes]
    quantiles = 1000 * np.quantile(seconds, (np.arange(20) + 0.5) / 20)
    content = {"calls": n_calls, "workers": 2, "milliseconds": quantiles.round(2).tolist()}
    RECORDED.write_text(json.dumps(content) + "\n")
    print(content)


def simulate(n_trials, folder, *, n_workers=1000, seconds=1.0, loss=0.0, store=True):
    """Run trials on a simulated cluster.

    Returns
    -------
    busy : float
        The share of the workers' time until the end of the last full window in which they ran trials.
    seconds : float
        Processor seconds of the driver per trial.
    rows : int
        Distinct trials that were stored.
    """
    engine = FakeEngine(n_workers, seconds, LATENCIES, loss)
    job = job_of(folder / "data")
    trials = trials_of(n_trials, methods=tuple(METHODS))
    pool = RemotePool(engine, FINGERPRINT, notify=lambda _: None, clock=engine.clock)
    rows = set()
    pool.start(job)
    with Store(folder / "store") as results, closing(pool):
        pool.submit(trials)
        for trial, result in pool.collect():
            if store:
                results.add(trial, result)
            rows.add(trial.key)
    return engine.busy / (n_workers * engine.now), engine.driver_seconds / n_trials, len(rows)


def main():
    print(" workers   trials  s each  lost    busy  ms per trial  trials/s     rows")
    cases = [(1000, 60_000, 1.0, 0.0), (1000, 60_000, 1.0, 0.01), (1000, 100_000, 0.001, 0.0)]
    for n_workers, n_trials, seconds, loss in cases:
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            busy, each, rows = simulate(n_trials, Path(folder), n_workers=n_workers, seconds=seconds, loss=loss)
        print(
            f"{n_workers:8,} {n_trials:8,} {seconds:7g} {loss:5.0%} {busy:7.1%} {1000 * each:13.3f} {1 / each:9,.0f} "
            f"{rows:8,}   ({time.perf_counter() - begun:.0f} s)"
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    else:
        main()
