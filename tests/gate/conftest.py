"""Make `stored_runs` importable, and write stored runs and files of pytest-benchmark by hand."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.metadata import Environment
from mfbench.run.store.store import Store
from mfbench.stats.results import Run
from mfbench.suite.protocols import Split

sys.path.insert(0, str(Path(__file__).parent))

from stored_runs import ROWS, TESTED, TRUTH, right
from toy_protocols import completed


@pytest.fixture
def make_run(tmp_path, make_metadata):
    """Return a function that writes a run of one or more datasets; a status instead of predictions is a failure."""

    def make(name, methods, datasets=("d",), kind="repeated-cv", sha256="abc", seconds=1.0, left_out=(), protocol="key",
             tested=TESTED, environment=None, memory=1000):  # fmt: skip
        folds = len(tested)
        settings = {"folds": folds, "repeats": 1, "metrics": ["accuracy"]}
        if kind == "timing":
            settings = {"kind": "timing", "repeats": 1, "steps": (folds + 1) // 2, "metrics": ["accuracy"]}
        metadata = make_metadata(
            methods=dict.fromkeys(methods, "knn"),
            protocol=completed(**settings),
            protocol_key=protocol,
            environment=Environment(
                **{"mfbench": "0.1.0", "python": "3.11.2", "cpu": "a processor", "jobs": 1,
                   "libraries": {"scikit-learn": "1.7"}, **(environment or {})}
            ),
        )  # fmt: skip
        described = [
            {"label": label, "sha256": f"{sha256}-{label}", "n_samples": ROWS, "n_features": 3,
             "class_names": ["no", "yes"], "feature_names": ["u", "v", "w"], "relevant": None, "interactions": None,
             "collections": {}, "source": "here", "truth": TRUTH}
            for label in datasets
        ]  # fmt: skip
        plan = [
            Trial(f"{label}{method}{fold}", label, method, 0, fold, 1)
            for label in datasets for method in methods for fold in range(folds)
        ]  # fmt: skip
        folder = tmp_path / name
        with Store(folder) as store:
            store.begin(metadata, described, left_out)
            store.set_plan(plan)
            for entry in described:
                splits = [Split(np.setdiff1d(np.arange(ROWS), test), test) for test in tested]
                store.add_splits(entry["sha256"], f"{protocol}:{entry['label']}", 0, splits, (ROWS, 3))
            for trial in plan:
                predict = methods[trial.method]
                if callable(predict):
                    predict = predict(tested[trial.fold])
                elif isinstance(predict, dict):
                    predict = predict.get(trial.fold, right(tested[trial.fold]))
                if predict is None:
                    continue
                if isinstance(predict, str):
                    store.add(trial, TrialResult(key=trial.key, status=predict))
                    continue
                accuracy = float(np.mean(predict == TRUTH[tested[trial.fold]]))
                store.add(
                    trial,
                    TrialResult(key=trial.key, scores={"accuracy": accuracy}, fit_wall=seconds, peak_memory=memory,
                                n_selected=1, selected=np.array([0]), predictions=predict),
                )  # fmt: skip
        return Run(folder)

    return make


@pytest.fixture
def benchmark_file(tmp_path):
    """Return a function that writes a file of pytest-benchmark."""

    def write(name, named, **changes):
        entries = [
            {"name": key, "fullname": f"tests/test_speed.py::{key}", "group": None, "params": None, "param": None,
             "extra_info": {}, "options": {},
             "stats": {"min": 1, "max": 2, "mean": 1.5, "median": float(np.median(data)), "data": data}}
            if isinstance(data, list) else data
            for key, data in named.items()
        ]  # fmt: skip
        content = {
            "machine_info": {"node": "n", "processor": "x86_64", "system": "Linux", "release": "6.1",
                             "python_version": "3.11.2", "cpu": {"brand_raw": "A Processor"}},
            "commit_info": {"id": "0123456789abcdef0123", "dirty": True},
            "benchmarks": entries, "datetime": "2026-01-01T00:00:00+00:00", "version": "5.1.0",
        }  # fmt: skip
        path = tmp_path / name
        path.write_text(json.dumps({**content, **changes}))
        return path

    return write
