"""A run of one dataset, two methods and two folds, written to a real store by hand."""

import numpy as np
import pytest
from toy_protocols import completed

from mfbench.model.trials import Trial, TrialResult, Unavailable
from mfbench.run.store.store import Store
from mfbench.suite.protocols import Split

TRUTH = np.array([0, 1, 1, 1])
TESTED = [np.array([0, 1]), np.array([2, 3])]


@pytest.fixture
def run_folder(tmp_path, make_metadata):
    """The folder of a run: A is right everywhere, B wrong on row 1 and failed on the second fold."""
    dataset = {
        "label": "d", "sha256": "abc", "n_samples": 4, "n_features": 3, "class_names": ["no", "yes"],
        "feature_names": ["u", "v", "w"], "relevant": [0, 2], "interactions": None, "collections": {},
        "source": "here", "truth": TRUTH,
    }  # fmt: skip
    metadata = make_metadata(
        methods={"A": "knn", "B": "relieff → knn"},
        protocol=completed(folds=2, repeats=1, metrics=["accuracy"]),
    )
    predictions = {("A", 0): [0, 1], ("A", 1): [1, 1], ("B", 0): [0, 0]}
    plan = [Trial(f"{method}{fold}", "d", method, 0, fold, 1) for method in "AB" for fold in (0, 1)]
    with Store(tmp_path) as store:
        store.begin(metadata, [dataset], [("broken", "damaged", None), ("away", "no network", Unavailable())])
        store.set_plan(plan)
        splits = [Split(np.setdiff1d(np.arange(4), test), test) for test in TESTED]
        store.add_splits("abc", "key:d", 0, splits, (4, 3))
        for trial in plan:
            labels = predictions.get((trial.method, trial.fold))
            if labels is None:
                store.add(trial, TrialResult(key=trial.key, status="error", error_type="ValueError"))
                continue
            score = float(np.mean(np.array(labels) == TRUTH[TESTED[trial.fold]]))
            store.add(
                trial,
                TrialResult(
                    key=trial.key, scores={"accuracy": score}, fit_wall=1.0, n_selected=1,
                    selected=np.array([trial.fold]), predictions=np.array(labels),
                ),
            )  # fmt: skip
    return tmp_path
