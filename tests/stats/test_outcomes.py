"""What is read of a real run: right and wrong of each row, by fold, equal to its predictions."""

import numpy as np
import pytest

import mfbench
from mfbench.errors import RunError

SUITE = """
[suite]
name = "own"
seed = 3
[protocol]
{protocol}
[[datasets]]
use = ["iris"]
[[methods]]
label = "fixed"
classifier = "knn(n_neighbors=3)"
[[methods]]
label = "papers"
classifier = "knn"
tune = {{ n_neighbors = [1, 25] }}
{selection}
[report]
test = "mcnemar"
"""
REPEATED = "folds = 3\nrepeats = 2\n[profiles.quick]\nfolds = 3\nrepeats = 2"
ONE_VS_REST = "kind = 'nested-cv'\nform = 'published'\nfolds = 3"


def run_of(tmp_path_factory, protocol, selection):
    path = tmp_path_factory.mktemp("suite") / "own.toml"
    path.write_text(SUITE.format(protocol=protocol, selection=selection), encoding="utf-8")
    return mfbench.run_suite(str(path), profile="full", out=tmp_path_factory.mktemp("out"), jobs=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_of(tmp_path_factory, REPEATED, 'selection = "per-dataset"')


@pytest.mark.parametrize("method", ["fixed", "papers"])
def test_decisions_are_the_predictions_that_are_right(run, method):
    rows = run.predictions("iris", method)
    folds = run.decisions("iris", method)
    assert len(folds) == 6
    for right, (_, fold) in zip(folds, rows.groupby(["repeat", "fold"]), strict=True):
        assert right.tolist() == (fold["truth"] == fold["prediction"]).tolist()
    scores = run.outcomes[run.outcomes["method"] == method].sort_values(["repeat", "fold"])["accuracy"]
    assert [fold.mean() for fold in folds] == pytest.approx(scores.tolist())


def test_light_outcomes_are_those_of_the_trials(run):
    shared = [name for name in run.outcomes.columns if name in run.trials.columns]
    assert {"accuracy", "status", "fit_wall"} <= set(shared)
    assert run.outcomes[shared].equals(run.trials[shared])


def test_the_chosen_test_reads_them(run):
    row = run.wins_ties_losses().iloc[0]
    fixed, papers = (run.decisions("iris", name)[0] for name in ("fixed", "papers"))
    assert row["difference"] == pytest.approx(fixed.mean() - papers.mean())


def test_a_problem_for_each_class_has_a_decision_for_each(tmp_path_factory):
    run = run_of(tmp_path_factory, ONE_VS_REST, "")
    rows, folds = run.predictions("iris", "fixed"), run.decisions("iris", "fixed")
    assert sum(map(len, folds)) == 3 * len(rows)
    assert np.concatenate(folds).mean() > 0.9


def test_an_unknown_cell(run):
    with pytest.raises(RunError, match="no predictions of nobody on iris"):
        run.decisions("iris", "nobody")
