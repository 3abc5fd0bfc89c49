"""A run written by hand: a real store in a temporary folder, with scores that the test states."""

import numpy as np
import pytest

from mfbench.analysis.results import Run
from mfbench.run.metadata import PublishedHeading, RecordedFigures, RecordedSuite
from mfbench.run.store import Store
from mfbench.suite.schema import ProtocolSettings
from mfbench.trials import Status, Trial, TrialResult


def noisy(mean, seed, folds):
    """Scores of that mean with a spread of their own."""
    noise = np.random.default_rng(seed).normal(0, 0.01, folds)
    return list(mean + noise - noise.mean())


@pytest.fixture
def write_run(tmp_path, make_metadata):
    """Return a function that writes a run and opens it.

    `cells` maps (dataset, method) to a mean, or to a list with a score, a `TrialResult` without key, or None (not run)
    for each fold. `truths` has the class codes of datasets, three of four rows in one class if unset.
    """
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
            protocol=ProtocolSettings(folds=folds, repeats=1, metrics=list(metrics)).completed(),
            selection=dict(selection or {}),
            published=RecordedFigures(tables=headings, figures=list(published), counts=list(counts)),
            methods={method: (describe or {}).get(method, f"{method.lower()} → knn") for method in methods},
            out=out,
            command=list(command) or ["mfbench", "suite", "own", "--profile", "quick"],
        )
        described = [
            {
                "label": dataset,
                "sha256": "0" * 64,
                "n_samples": 4,
                "n_features": 2,
                "class_names": ["no", "yes"],
                "feature_names": ["u", "v"],
                "relevant": None,
                "interactions": interactions,
                "collections": {},
                "source": "nowhere",
                "truth": np.array((truths or {}).get(dataset, [0, 1, 1, 1])),
            }
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
        folder = tmp_path / f"run-{next(counter)}"
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
