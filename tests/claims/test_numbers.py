"""Bundles of runs that predict numbers: written, read, and refused if a score contradicts its predictions."""

import json

import numpy as np
import pytest
from forgery import forged, packed_text
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import mfbench
from mfbench.errors import UsageError
from mfbench_claims.reading import opened_bundles
from mfbench_claims.recomputed_scores import Truth, scores_of_numbers
from mfbench_claims.writing import write_bundle

SUITE = """
[suite]
name = "own"
[protocol]
folds = 2
inner_folds = 2
[[datasets]]
use = ["diabetes"]
[[methods]]
label = "RIDGE"
regressor = "ridge"
[[methods]]
label = "CHOSEN"
regressor = "knn"
tune = { n_neighbors = [1, 9] }
selection = "per-dataset"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "own.toml").write_text(SUITE)
    return mfbench.run_suite(str(folder / "own.toml"), out=folder, jobs=1, strict=True)


@pytest.fixture(scope="module")
def claim(run):
    return write_bundle(run.path, run.path.parent / "claim.zip").path


def read(path):
    with opened_bundles([path]) as (bundle,):
        return mfbench.load_run(bundle.folder).trials


def test_it_has_the_predictions_of_the_run_to_the_bit(run, claim):
    for ours, theirs in zip(run.trials["predictions"], read(claim)["predictions"], strict=True):
        assert ours.dtype == theirs.dtype == np.float64 and ours.tolist() == theirs.tolist()


def with_first(**values):
    def change(rows):
        row = next(row for row in rows if row["scores"])
        scores = {**json.loads(row["scores"]), **values.pop("scores", {})}
        row |= {"scores": json.dumps(scores), **values}

    return {"trials": change}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_first(scores={"r2": 0.9}), "its score 'r2' is 0.9, but its predictions give 0"),
        (with_first(scores={"rmse": 1.0}), "its score 'rmse' is 1, but its predictions give 5"),
        (with_first(predictions=packed_text([np.nan] * 221)), "its predictions are not finite numbers"),
        ({"datasets": lambda rows: rows[0].update(truth=packed_text([np.inf] * 442))}, "targets that are not finite"),
        ({"datasets": lambda rows: rows[0].update(truth=packed_text([1] * 442))}, "are not those of its rows"),
    ],
    ids=["r2", "rmse", "predictions", "targets", "codes"],
)
def test_a_forgery_is_refused(claim, tmp_path, change, expected):
    with pytest.raises(UsageError, match=expected):
        read(forged(claim, tmp_path / "claim.zip", **change))


def test_recomputed_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, predicted = 1e6 * rng.normal(size=(2, 40))
    found = scores_of_numbers(predicted, Truth(y))
    assert found["r2"] == pytest.approx(r2_score(y, predicted))
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, predicted))
    assert found["mae"] == pytest.approx(mean_absolute_error(y, predicted))
    assert np.isnan(scores_of_numbers(predicted, Truth(np.ones(40)))["r2"])
