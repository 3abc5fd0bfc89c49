"""A run with one random split: no spread between folds, so that McNemar's test on the test set decides everything."""

import numpy as np
import pytest
from scipy import stats

import mfbench
from mfbench.report.page import page_of
from mfbench.report.tables import BEST, MARK, score_table, setting, summary_table

SUITE = """
[suite]
name = "own"
seed = 3
[protocol]
kind = "{kind}"
repeats = 1
[[datasets]]
use = ["wdbc", "monks-1"]
[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
[[methods]]
label = "LDA"
classifier = "lda"
[[methods]]
label = "DUM"
classifier = "dummy"
[report]
{report}
"""


def run_of(tmp_path_factory, kind="holdout", report=""):
    path = tmp_path_factory.mktemp("suite") / "own.toml"
    path.write_text(SUITE.format(kind=kind, report=report), encoding="utf-8")
    return mfbench.run_suite(str(path), profile="paper", out=tmp_path_factory.mktemp("out"), jobs=1)


@pytest.fixture(scope="module", params=["holdout", "three-way"])
def run(request, tmp_path_factory):
    return run_of(tmp_path_factory, request.param)


def right(run, dataset, method):
    rows = run.predictions(dataset, method)
    return (rows["truth"] == rows["prediction"]).to_numpy()


def p_value(run, dataset, first, second):
    a, b = right(run, dataset, first), right(run, dataset, second)
    only = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    return stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0


def test_every_verdict_is_mcnemars(run):
    table = run.wins_ties_losses()
    assert len(table) == 4
    for row in table.to_dict("records"):
        expected = p_value(run, row["dataset"], "1NN", row["method"])
        assert row["p_value"] == pytest.approx(expected)
        difference = right(run, row["dataset"], "1NN").mean() - right(run, row["dataset"], row["method"]).mean()
        assert row["difference"] == pytest.approx(difference)
        assert row["low"] <= row["difference"] <= row["high"]
        word = "tie" if expected > 0.05 else "win" if difference > 0 else "loss"
        assert (row["verdict"], row["published"], row["sound"]) == (word, word, word)
    assert (table["verdict"] == "win").sum() >= 2, "guessing is worse on both"


def test_marks_are_mcnemars(run):
    table = score_table(run)
    for row in table.rows[:2]:
        dataset = row[0].text
        best = [method for method, cell in zip(table.columns[1:], row[1:], strict=True) if cell.role == BEST]
        for method, cell in zip(table.columns[1:], row[1:], strict=True):
            if method not in best:
                assert (MARK in cell.text) == (p_value(run, dataset, best[0], method) > 0.05)
        assert MARK not in row[-1].text, "guessing is told apart"


def test_one_count_and_no_word_of_folds(run):
    table = score_table(run)
    assert [row[0].text for row in table.rows[2:]] == ["W/T/L", "average rank"]
    assert [name for name in summary_table(run).columns if "W/T/L" in name] == ["W/T/L"]
    assert table.rows[2][1].text == "–" and table.rows[2][3].text == "2/0/0"
    text = " ".join(page_of(run).notes)
    assert "exact McNemar test on the first test set: a single test set has no spread" in text
    assert "corrected resampled" not in text and "really held" not in text
    assert "1 random split that tests" in setting(run) or "1 random division into" in setting(run)


def test_the_s_test_keeps_its_row_and_its_marks(tmp_path_factory):
    run = run_of(tmp_path_factory, report='test = "s-test-exact"')
    rows = score_table(run).rows
    assert [row[0].text for row in rows[2:]] == ["W/T/L", "s-test-exact W/T/L", "average rank"]
    assert all(row[3].text.endswith("≪") for row in rows[:2])


def test_a_single_score_without_predictions_tells_nothing(write_run):
    run = write_run({("d", m): [score] for m, score in (("A", 0.9), ("B", 0.8))})
    assert not any(MARK in cell.text for cell in score_table(run).rows[0])
    assert run.wins_ties_losses()["verdict"].tolist() == ["tie"]
