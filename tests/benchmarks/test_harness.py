"""The cost of mfbench itself: start-up, overhead per trial, resume, store, and the gain from a second worker.

Run: ``pytest tests/benchmarks/test_harness.py --benchmark-only``. The ratios are in each benchmark's ``extra_info``
(``--benchmark-json FILE`` writes them); nothing here asserts a time. A peer that is not installed is skipped.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mfbench.api import Request, prepare_suite
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute

BENCHOPT = os.environ.get("MFBENCH_BENCHOPT") or shutil.which("benchopt")

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


def planned(folder: Path, trials: int, classifier: str = "dummy"):
    """Return a plan of that many trials on iris, its run folder and the registry."""
    path = folder / f"noop-{trials}.toml"
    path.write_text(SUITE.format(repeats=trials // 5, classifier=classifier))
    return prepare_suite(Request(str(path), out=folder))


def run(folder: Path, trials: int, classifier: str = "dummy", jobs: int = 1) -> float:
    """Run that many trials from nothing; return the seconds."""
    plan, target, registry = planned(folder, trials, classifier)
    begin = time.perf_counter()
    execute(plan, target, registry, RunOptions(jobs=jobs, fresh=True), Silent())
    return time.perf_counter() - begin


def bare_loop(trials: int) -> float:
    """Do the same fits and scores with scikit-learn alone; return the seconds."""
    from sklearn.datasets import load_iris
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler

    X, y = load_iris(return_X_y=True)
    begin = time.perf_counter()
    for repeat in range(trials // 5):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y):
            scaler = StandardScaler().fit(X[train])
            classifier = DummyClassifier(strategy="most_frequent").fit(scaler.transform(X[train]), y[train])
            predicted = classifier.predict(scaler.transform(X[test]))
            accuracy_score(y[test], predicted)
            balanced_accuracy_score(y[test], predicted)
    return time.perf_counter() - begin


def command_seconds(words: list[str], rounds: int = 5) -> float:
    """Return the median wall time of a whole process."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def test_start_up(benchmark):
    ours = [str(Path(sys.executable).with_name("mfbench")), "--help"]
    peer = [sys.executable, "-c", "import typer, rich"]
    benchmark.pedantic(command_seconds, args=(ours,), rounds=1, warmup_rounds=1)
    pairs = [(command_seconds(ours, 1), command_seconds(peer, 1)) for _ in range(9)]
    benchmark.extra_info |= {
        "help_seconds": float(np.median([a for a, _ in pairs])),
        "peer_seconds": float(np.median([b for _, b in pairs])),
        "ratio": float(np.median([a / b for a, b in pairs])),
    }


def test_overhead_per_trial(benchmark, tmp_path):
    run(tmp_path, 10)  # starts the process that workers are forked from; a command pays that once, not per trial
    benchmark.pedantic(run, args=(tmp_path, 1000), rounds=3)
    ours = {trials: min(run(tmp_path, trials) for _ in range(3)) for trials in (1000, 5000)}
    ours[10_000] = run(tmp_path, 10_000)
    bare = min(bare_loop(1000) for _ in range(3))
    benchmark.extra_info |= {
        "bare_ms_per_trial": bare,
        **{f"overhead_ms_per_trial_{trials}": 1000 * (s / trials - bare / 1000) for trials, s in ours.items()},
    }


def test_resume_and_store(benchmark, tmp_path):
    run(tmp_path, 1000)

    def resume() -> float:
        plan, folder, registry = planned(tmp_path, 1000)
        execute(plan, folder, registry, RunOptions(jobs=1), Silent())
        return folder

    folder = benchmark.pedantic(resume, rounds=5)
    files = sum(file.stat().st_size for file in folder.glob("results.sqlite*"))
    benchmark.extra_info |= {
        "skip_ms_per_trial": benchmark.stats.stats.min,  # seconds per 1000 trials
        "store_bytes_per_trial": files / 1000,
    }


def test_second_worker(benchmark, tmp_path, monkeypatch):
    (tmp_path / "wait_plugin.py").write_text(
        "import time\n"
        "from mfbench import ClassifierSpec, hookimpl\n"
        "from sklearn.dummy import DummyClassifier\n"
        "class Busy(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        end = time.perf_counter() + 0.05\n"
        "        while time.perf_counter() < end: pass\n"
        "        return super().fit(X, y)\n"
        "@hookimpl\n"
        "def mfbench_classifiers():\n"
        "    return [ClassifierSpec(name='busy', summary='50 ms', factory='wait_plugin:Busy')]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "all,wait_plugin")
    run(tmp_path, 10, "busy", 2)
    two = benchmark.pedantic(run, args=(tmp_path, 200, "busy", 2), rounds=1)
    pairs = [(run(tmp_path, 200, "busy", 1), run(tmp_path, 200, "busy", 2)) for _ in range(3)]
    benchmark.extra_info |= {
        "one_worker_seconds": pairs[0][0],
        "two_workers_seconds": two,
        "throughput_ratio": float(np.median([one / both for one, both in pairs])),
    }


OBJECTIVE = """
from benchopt import BaseObjective
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

class Objective(BaseObjective):
    name = "iris folds"
    sampling_strategy = "run_once"
    parameters = {{"trial": list(range({trials}))}}

    def set_data(self, X, y):
        splits = list(StratifiedKFold(5, shuffle=True, random_state=self.trial // 5).split(X, y))
        self.train, self.test = splits[self.trial % 5]
        self.X, self.y = StandardScaler().fit(X[self.train]).transform(X), y

    def get_objective(self):
        return dict(X=self.X[self.train], y=self.y[self.train])

    def evaluate_result(self, model):
        found, truth = model.predict(self.X[self.test]), self.y[self.test]
        return dict(value=1 - accuracy_score(truth, found), balanced=balanced_accuracy_score(truth, found))

    def get_one_result(self):
        return dict(model=DummyClassifier().fit(self.X, self.y))
"""
DATASET = """
from benchopt import BaseDataset
from sklearn.datasets import load_iris

class Dataset(BaseDataset):
    name = "iris"

    def get_data(self):
        X, y = load_iris(return_X_y=True)
        return dict(X=X, y=y)
"""
SOLVER = """
from benchopt import BaseSolver
from sklearn.dummy import DummyClassifier

class Solver(BaseSolver):
    name = "dummy"
    sampling_strategy = "run_once"

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def run(self, _):
        self.model = DummyClassifier(strategy="most_frequent").fit(self.X, self.y)

    def get_result(self):
        return dict(model=self.model)
"""


@pytest.mark.skipif(BENCHOPT is None, reason="benchopt is not installed; name its command in MFBENCH_BENCHOPT")
def test_overhead_of_benchopt(benchmark, tmp_path):
    def seconds(trials: int, again: bool = False) -> float:
        folder = tmp_path / f"peer{trials}"
        for name, text in (("datasets/iris", DATASET), ("solvers/dummy", SOLVER), ("objective", OBJECTIVE)):
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            if not again:
                path.write_text(text.format(trials=trials) if name == "objective" else text)
        return command_seconds([str(BENCHOPT), "run", str(folder), "-n", "1", "--no-plot", "--no-html"], rounds=1)

    seconds(5)
    small = seconds(100)
    large = benchmark.pedantic(seconds, args=(500,), rounds=1)
    bare = bare_loop(1000) / 1000
    small_again, large_again = seconds(100, again=True), seconds(500, again=True)
    benchmark.extra_info |= {
        # The difference of two sizes takes the command's start-up out.
        "overhead_ms_per_trial": 1000 * ((large - small) / 400 - bare),
        "skip_ms_per_trial": 1000 * (large_again - small_again) / 400,
    }
