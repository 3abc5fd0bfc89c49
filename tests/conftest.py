"""Shared fixtures: plugins built from a few specs, and a registry that contains nothing else."""

import gc
import os
import random
import sys
import types
from collections import defaultdict
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - loads a BLAS of its own, which is limited below
import sklearn  # noqa: F401
from threadpoolctl import threadpool_limits

from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl
from mfbench.host import code_hashes
from mfbench.host.registry import load_registry
from mfbench.model.trials import Curve, Status, Trial, TrialResult
from mfbench.run.store.metadata import Environment, PublishedHeading, RecordedFigures, RecordedSuite, RunMetadata
from mfbench.run.store.store import Store
from mfbench.stats.results import Run
from mfbench_gate.history.storage import Calibration, HistoryEntry, Machine, Measurement

sys.path.insert(0, str(Path(__file__).parent / "toys"))
from toy_metrics import SCORES
from toy_protocols import SPECS, completed, design_of

from toys import Nearest, Weigh, blobs

# Each plan with a method of a test's own module would hash all files of what the module tests with.
code_hashes.BY_VERSION |= {"hypothesis", "pytest", "_pytest"}

# A busy machine must not fail a test: speed is measured in tests/benchmarks.
hypothesis.settings.register_profile("mfbench", deadline=None, max_examples=30)
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=300)
hypothesis.settings.load_profile("mfbench")


# Native threads of several test processes wait for each other on small arrays, twice as long as one thread computes.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1)


# Where tests are that one process runs: those of a plugin whose functions numba compiles, which takes longer than the
# tests, and those that share costly fixtures.
COMPILED = ("baselines", "information", "margin", "relevance", "similarity", "sqpfw")
GROUPS = {
    **{f"tests/{name}/": name for name in COMPILED},
    **{f"plugins/mfbench_{name}/": name for name in COMPILED},
    "tests/report/render/test_json.py": "documents",
    "tests/report/sections/test_detection.py": "margin",
    # One process makes the runs.
    **{
        name: name
        for name in ("tests/api/test_api.py", "tests/cluster/test_api.py", "tests/run/workers/test_supervisor.py")
    },
    **{name: name for name in ("tests/e2e/test_curves.py", "tests/e2e/test_page.py")},
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Distribute the groups; with pytest 9.2, marks of pytest-xdist 3.8 have no effect."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByPlace(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            groups = (group for place, group in GROUPS.items() if nodeid.startswith(place))
            return next(groups, None) or super()._split_scope(nodeid)

    return ByPlace(config, log)


def pytest_collection_modifyitems(items):
    """Require a reason wherever a test is left out of the usual run."""
    cases = defaultdict(list)
    for item in items:
        for mark in [mark for name in ("slow", "nightly", "outside", "sampled") for mark in item.iter_markers(name)]:
            if not mark.kwargs.get("reason"):
                raise pytest.UsageError(f"{item.nodeid} is marked {mark.name} without a reason")
        for mark in item.iter_markers("sampled"):
            cases[item.nodeid.partition("[")[0]].append((item, mark))
    for name, group in cases.items():
        # Evenly spread, from a start that the name of the test fixes: every run has the same sample.
        size = group[0][1].args[0]
        step = len(group) / size
        start = step * random.Random(name).random()
        kept = {int(start + k * step) for k in range(size)}
        for number, (item, mark) in enumerate(group):
            if number not in kept:
                item.add_marker(pytest.mark.nightly(reason=mark.kwargs["reason"]))


def pytest_collection_finish():
    """Collections, of which a measurement begins with one, need not search what thousands of tests are made of."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Keep the tests, and the commands that they start, away from the user's cache of datasets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MFBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def openml_home(tmp_path_factory):
    """Importing openml makes folders for its settings and its cache: not in the developer's home."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "OPENML_CACHE_DIR"):
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable.lower())))
        yield


@pytest.fixture(scope="session")
def make_plugin():
    """Return a function that builds a plugin module from lists of specs; a callable becomes the hook itself."""

    def hook_of(value):
        @hookimpl
        def hook():
            return value() if callable(value) else list(value)

        return hook

    def make(name, **hooks):
        module = types.ModuleType(name)
        for kind, value in hooks.items():
            setattr(module, f"mfbench_{kind}", hook_of(value))
        return module

    return make


@pytest.fixture(scope="session")
def toy_plugin(make_plugin):
    """A plugin with two selectors, two classifiers and three datasets."""

    def broken():
        raise OSError("the disk is gone")

    return make_plugin(
        "toy_plugin",
        selectors=[
            SelectorSpec(name="weigh", summary="", factory=Weigh, grid={"power": (1.0, 2.0)}),
            SelectorSpec(name="raw", summary="", factory=Weigh, raw_input=True),
        ],
        classifiers=[
            ClassifierSpec(name="nearest", summary="", factory=Nearest, grid={"shift": (0.0, 0.5)}),
            ClassifierSpec(name="plain", summary="", factory=Nearest),
        ],
        datasets=[
            DatasetSpec(name="blobs", summary="", loader=blobs, n_samples=24, n_features=3, n_classes=2),
            DatasetSpec(name="other-blobs", summary="", loader=lambda: blobs(30)),
            DatasetSpec(name="broken", summary="", loader=broken),
        ],
    )


@pytest.fixture
def toy_registry(toy_plugin):
    """A registry that contains only that plugin."""
    return load_registry(only=[], extra=[("toy", toy_plugin)])


@pytest.fixture(scope="session")
def make_metadata():
    """Return a function that makes the metadata of a run; keywords replace fields."""

    def make(**changes):
        fields = {
            "suite": RecordedSuite.model_validate({"suite": {"name": "own", "seed": 7}}),
            "protocol": completed(),
            "protocol_key": "key",
            "profile": "quick",
            "methods": {"A": "a → knn"},
            "environment": Environment(
                mfbench="0.1.0", python="3.11.2", cpu="a processor", jobs=2, libraries={"scikit-learn": "1.7"}
            ),
            "command": ["mfbench", "suite", "own", "--profile", "quick"],
        }
        fields |= changes
        spec = SPECS[fields["protocol"].kind]
        derived = {"design": design_of(fields["protocol"]), "scores": SCORES if spec.predicts else spec.own_scores}
        return RunMetadata(**{**derived, **fields})

    return make


@pytest.fixture(scope="session")
def make_entry():
    """Return a function that makes an entry of a history: commit number `k`, and CPU seconds of each (method, dataset).

    Keywords replace fields of the entry; `measured` replaces fields of all measurements.
    """

    def make(k=0, seconds=1.0, *, kernels=(0.1, 0.1, 0.1), measured=None, **changes):
        cells = seconds if isinstance(seconds, dict) else {("A", "iris"): seconds}
        fields = {"size": "", "n_trials": 5, "n_failed": 0, "predict_cpu": 0.0, "fit_wall": 1.0, "predict_wall": 0.0}
        fields |= {"memory": 2e6, "scores": {"accuracy": 0.9}} | (measured or {})
        measurements = tuple(
            Measurement(method=method, dataset=dataset, fit_cpu=value, digest=f"{k}/{method}/{dataset}", **fields)
            for (method, dataset), value in cells.items()
        )
        values = {
            "suite": "own",
            "profile": "quick",
            "source": "own.toml",
            "commit": f"{k:07x}" + "0" * 33,
            "commit_time": f"2026-01-01T{k // 60:02}:{k % 60:02}:00+00:00",
            "added": "2026-06-01T00:00:00+00:00",
            "machine": Machine("a processor", 2, "Linux"),
            "system": "Linux-6.1",
            "python": "CPython 3.11.2",
            "versions": {"mfbench": "0.1.0", "xgboost": None},
            "plugins": ("own 1.0",),
            "calibration": None if kernels is None else Calibration(*kernels),
            "measurements": measurements,
            "scores": SCORES,
        }
        return HistoryEntry(**{**values, **changes})

    return make


def _described(dataset, **changes):
    """A dataset of four rows, as a run records it."""
    return {
        "label": dataset,
        "sha256": "0" * 64,
        "n_samples": 4,
        "n_features": 2,
        "class_names": ["no", "yes"],
        "feature_names": ["u", "v"],
        "relevant": None,
        "interactions": None,
        "collections": {},
        "source": "nowhere",
        "truth": np.array([0, 1, 1, 1]),
        **changes,
    }


@pytest.fixture
def timed_run(tmp_path, make_metadata):
    """Return a function that writes a run: `results` has a `TrialResult` or None for each fold of (dataset, method)."""

    def write(results, name="run", splits=(), **changes):
        datasets = list(dict.fromkeys(dataset for dataset, _ in results))
        metadata = {"protocol": completed(folds=2, repeats=1), **changes}
        described = [_described(dataset) for dataset in datasets]
        meta = make_metadata(methods={method: method for _, method in results}, **metadata)
        with Store(tmp_path / name) as store:
            store.begin(meta, described, [])
            trials = [
                (Trial(f"{dataset}/{method}/{fold}", dataset, method, 0, fold, 1), result)
                for (dataset, method), folds in results.items()
                for fold, result in enumerate(folds)
            ]
            store.set_plan(trial for trial, _ in trials)
            for dataset in datasets if splits else ():
                store.add_splits("0" * 64, f"{meta.protocol_key}:{dataset}", 0, splits, (4, 2))
            for trial, result in trials:
                if result is not None:
                    result.key = trial.key
                    store.add(trial, result)
        return Run(tmp_path / name)

    return write


@pytest.fixture
def timed():
    """Return a function that makes the result of a trial; its seconds are those of the fit."""

    def make(seconds, accuracy=0.9, **fields):
        values = {"fit_cpu": seconds, "fit_wall": 2 * seconds, "predict_cpu": 0.25, "peak_memory": 1000}
        return TrialResult(key="", scores={"accuracy": accuracy}, **{**values, **fields})

    return make


def noisy(mean, seed, folds):
    """Scores of that mean with a spread of their own."""
    noise = np.random.default_rng(seed).normal(0, 0.01, folds)
    return list(mean + noise - noise.mean())


@pytest.fixture(scope="session")
def run_writer(make_metadata):
    """Return a function that takes a folder and returns what `write_run` returns."""
    return lambda folder: _writer(folder, make_metadata)


@pytest.fixture
def write_run(tmp_path, run_writer):
    """Return a function that writes a run and opens it.

    `cells` maps (dataset, method) to a mean, or to a list with a score, a `TrialResult` without key, or None (not run)
    for each fold. `truths` has the class codes of datasets, three of four rows in one class if unset.
    """
    return run_writer(tmp_path)


def _writer(folder_of_runs, make_metadata):
    counter = iter(range(1000))

    def write(
        cells,
        *,
        folds=5,
        metrics=("accuracy",),
        report=None,
        title="Own suite",
        left_out=(),
        describe=None,
        command=(),
        out="reports",
        selection=None,
        published=(),
        counts=(),
        interactions=None,
        truths=None,
        features=("u", "v"),
        relevant=None,
        collections=None,
        splits=None,
        rows=4,
    ):
        datasets = list(dict.fromkeys(dataset for dataset, _ in cells))
        methods = list(dict.fromkeys(method for _, method in cells))
        headings = {
            name: PublishedHeading(title=f"Paper, {name}", metric=metrics[0])
            for name in dict.fromkeys(figure.table for figure in published)
        }
        metadata = make_metadata(
            suite=RecordedSuite.model_validate(
                {"suite": {"name": "own", "title": title, "seed": 7}, "report": report or {}}
            ),
            protocol=completed(folds=folds, repeats=1, metrics=list(metrics)),
            selection=dict(selection or {}),
            splits=splits or {},
            published=RecordedFigures(tables=headings, figures=list(published), counts=list(counts)),
            methods={method: (describe or {}).get(method, f"{method.lower()} → knn") for method in methods},
            out=out,
            command=list(command) or ["mfbench", "suite", "own", "--profile", "quick"],
        )
        described = [
            _described(
                dataset,
                interactions=interactions,
                relevant=(relevant or {}).get(dataset),
                truth=np.array((truths or {}).get(dataset, [0, 1, 1, 1])),
                feature_names=list(features),
                n_features=len(features),
                n_samples=rows,
                collections={name: dataset for name, own in (collections or {}).items() if dataset in own},
            )
            for dataset in datasets
        ]
        plan, results = [], []
        for number, ((dataset, method), scores) in enumerate(cells.items()):
            values = scores if isinstance(scores, list) else noisy(scores, number, folds)
            for fold, value in enumerate(values):
                trial = Trial(f"{dataset}/{method}/{fold}", dataset, method, 0, fold, 1)
                plan.append(trial)
                if value is None:
                    continue
                if isinstance(value, TrialResult):
                    value.key = trial.key
                    results.append((trial, value))
                    continue
                scored = value if isinstance(value, dict) else dict.fromkeys(metrics, value)
                results.append(
                    (
                        trial,
                        TrialResult(key=trial.key, scores=scored, fit_wall=0.25, peak_memory=2_000_000, n_selected=1),
                    )
                )
        folder = folder_of_runs / f"run-{next(counter)}"
        with Store(folder) as store:
            store.begin(metadata, described, [(name, reason, None) for name, reason in left_out])
            store.set_plan(plan)
            for trial, result in results:
                store.add(trial, result)
        return Run(folder)

    return write


@pytest.fixture
def failure():
    """Return a function that makes the result of a failed trial."""

    def make(status=Status.ERROR, kind="ValueError", message="no way"):
        return TrialResult(key="", status=status, error_type=kind, error_message=message)

    return make


@pytest.fixture(scope="session")
def curved():
    """Return a function that makes the result of a trial with a curve: the score at each of the sizes."""

    def make(scores, sizes=(1, 2, 4), weights=(0.4, 0.3, 0.2, 0.1), metric="accuracy", **others):
        values = {metric: scores, **others}
        x, y = np.log(sizes), np.array(scores, dtype=float)
        area = np.trapezoid(y, x) / (x[-1] - x[0]) if len(sizes) > 1 else y[0]
        linear = np.trapezoid(y, sizes) / (sizes[-1] - sizes[0]) if len(sizes) > 1 else y[0]
        table = np.array(list(values.values()), dtype=float)
        return TrialResult(
            key="",
            scores={name: row[-1] for name, row in values.items()} | {"area": area, "area_linear": linear},
            n_selected=sizes[-1],
            weights=np.array(weights, dtype=float),
            curve=Curve(np.array(sizes), tuple(values), table, np.full(len(sizes), 0.5)),
        )

    return make


@pytest.fixture
def small_run(write_run, failure):
    """Two datasets, three methods: A is best on both, B is as good on the first, C failed once on the second."""
    return write_run(
        {
            ("iris", "A"): 0.9,
            ("iris", "B"): 0.899,
            ("iris", "C"): 0.5,
            ("wine", "A"): 0.8,
            ("wine", "B"): 0.6,
            ("wine", "C"): [0.99, 0.99, 0.99, 0.99, failure(message="no | way\nat all")],
        },
        report={"reference": "B"},
        left_out=[("gone", "no network")],
    )
