"""Curves from a suite file to the report: a real run, its figures computed again by other means, and every export."""

import csv
import json

import numpy as np
import pytest
from scipy.integrate import trapezoid

from mfbench import load_run, run_suite
from mfbench.cli import main
from mfbench.run.trial.folds import choose
from mfbench.stats.selection import nogueira_stability, selection_table

SUITE = """
    [suite]
    name = "own"
    seed = 7
    [protocol]
    folds = 5
    repeats = 1
    metrics = ["area", "accuracy"]
    [[datasets]]
    use = ["iris", "xor(n_samples=80, n_noise=4)"]
    [[methods]]
    label = "F-1NN"
    selector = "anova-f"
    classifier = "knn(n_neighbors=1)"
    curve = [1, 2, 0.75, "all"]
    [[methods]]
    label = "RFF-1NN"
    selector = "relieff"
    classifier = "knn(n_neighbors=1)"
    curve = [1, 2, 0.75, "all"]
    [[methods]]
    label = "F-LDA"
    selector = "anova-f"
    classifier = "lda"
    curve = { count = 4 }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curves")
    (folder / "own.toml").write_text(SUITE)
    return load_run(run_suite(str(folder / "own.toml"), out=folder / "reports", jobs=1).path)


@pytest.fixture
def exported(run, capsys):
    """Return a function that returns the report of the run in a form."""

    def export(*words):
        with pytest.raises(SystemExit) as left:
            main(["report", str(run.path), *words])
        assert not left.value.code
        return capsys.readouterr().out

    return export


def test_areas_and_means_are_those_of_the_scores_of_the_folds(run):
    scores = run.curves[run.curves["metric"] == "accuracy"]
    for row in run.curve_summary.to_dict("records"):
        own = scores[(scores["dataset"] == row["dataset"]) & (scores["method"] == row["method"])]
        table = own.pivot(index="fold", columns="size", values="score")
        x = np.log(table.columns.to_numpy(dtype=float))
        areas = [trapezoid(line, x) / np.ptp(x) for line in table.to_numpy()]
        assert row["area"] == pytest.approx(np.mean(areas))
        assert row["best_mean"] == pytest.approx(table.mean().max())
        assert row["sufficient_size"] <= row["best_size"]
        assert row["folds"] == row["planned"] == 5


def test_the_stability_is_that_of_the_features_that_each_size_selects(run):
    trials = run.trials
    for row in run.curve_rankings.to_dict("records"):
        own = trials[(trials["dataset"] == row["dataset"]) & (trials["method"] == row["method"])]
        sets = [choose(weights, int(row["size"])) for weights in own["weights"]]
        expected = nogueira_stability(selection_table(sets, len(own["weights"].iloc[0]))).value
        assert row["stability"] == pytest.approx(expected, nan_ok=True)


def test_relief_needs_the_two_interacting_features_and_f_does_not_find_them(run):
    at_two = run.curve_rankings[run.curve_rankings["size"] == 2].set_index(["dataset", "method"])["recall"]
    (xor,) = [dataset for dataset in run.outcomes["dataset"].unique() if dataset.startswith("xor")]
    assert at_two[xor, "RFF-1NN"] == 1.0 > at_two[xor, "F-1NN"]
    assert np.isnan(at_two["iris", "RFF-1NN"])


def test_every_export_has_the_curves(run, exported):
    content = json.loads(exported("--json"))
    assert len(content["curves"]) == len(run.curve_means) and len(content["curve_summary"]) == 6
    rows = list(csv.DictReader(exported("--curves").splitlines()))
    assert [row["method"] for row in rows] == run.curve_means["method"].tolist()
    assert "curve_sufficient_size" in exported("--csv").splitlines()[0]
    markdown = exported("--md")
    assert "## Accuracy against the number of features" in markdown and "Classifier lda, over 2 datasets" in markdown
    page = exported("--html")
    assert 'data-chart="curves-01-knn-n-neighbors-1"' in page and 'data-chart="curves-stability"' in page
    assert exported("--figure", "curves-02-lda").startswith("<svg")
