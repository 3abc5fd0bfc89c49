"""Verdicts follow how test sets relate; with a single one, McNemar's test on it decides everything."""

import numpy as np
import pytest
from scipy import stats

import mfbench
from mfbench.report.cells import MARK
from mfbench.report.contents import report_of
from mfbench.report.heading import setting_of
from mfbench.report.sections.scores import S_MARKS, methods, score_table
from mfbench.report.verdicts import relation_of_test_sets, verdict_columns, verdict_notes

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
    return mfbench.run_suite(str(path), profile="full", out=tmp_path_factory.mktemp("out"), jobs=1)


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
        best = [method for method, cell in zip(table.columns[1:], row[1:], strict=True) if cell.role == "best"]
        for method, cell in zip(table.columns[1:], row[1:], strict=True):
            if method not in best:
                assert (MARK in cell.text) == (p_value(run, dataset, best[0], method) > 0.05)
        assert MARK not in row[-1].text, "guessing differs significantly"


def test_one_count_and_no_mention_of_folds(run):
    table = score_table(run)
    assert [row[0].text for row in table.rows[2:]] == ["W/T/L", "detectable, median", "average rank"]
    assert [name for name in methods(run).tables[0].columns if "W/T/L" in name] == ["W/T/L"]
    assert table.rows[2][1].text == "–" and table.rows[2][3].text == "2/0/0"
    text = " ".join(note for section in report_of(run).sections for note in section.notes)
    assert "exact McNemar test on the first test set. A single test set gives no spread" in text
    assert "corrected resampled" not in text and "nominal" not in text
    assert "1 random split that tests" in setting_of(run) or "1 random division into" in setting_of(run)


def test_the_s_test_keeps_its_row_and_its_marks(tmp_path_factory):
    run = run_of(tmp_path_factory, report='test = "s-test-exact"')
    rows = score_table(run).rows
    assert [row[0].text for row in rows[2:]] == [
        "W/T/L", "s-test-exact W/T/L", "detectable, median", "average rank",
    ]  # fmt: skip
    assert all(row[3].text.endswith("≪") for row in rows[:2])


def test_a_single_score_without_predictions_decides_nothing(write_run):
    run = write_run({("d", m): [score] for m, score in (("A", 0.9), ("B", 0.8))})
    assert not any(MARK in cell.text for cell in score_table(run).rows[0])
    assert run.wins_ties_losses()["verdict"].tolist() == ["no verdict"]


@pytest.fixture
def cut_off(write_run):
    """Return a function from metrics to a run with one common fold on d, where A is right and B wrong, and all of e."""

    def make(*metrics, only_d=False):
        def cell(accuracy, folds):
            scores = {"area": 0.9 - accuracy / 10, "accuracy": accuracy}
            return [{name: value + fold / 100 for name, value in scores.items()} for fold in range(folds)]

        right, wrong, noisy = cell(0.9, 1), cell(0.1, 1), cell(0.2, 5)
        noisy[2] = {"area": 0.8, "accuracy": 0.21}
        rest = [None] * 4
        cells = {("d", "A"): right + rest, ("d", "B"): wrong + rest, ("e", "A"): cell(0.9, 5), ("e", "B"): noisy}
        run = write_run({cell: scores for cell, scores in cells.items() if not only_d or "d" in cell}, metrics=metrics)
        run.__dict__["decisions"] = lambda dataset, method, folds=None: [np.full(30, method == "A")] * len(folds)
        return run

    return make


class TestOneCommonFold:
    def test_an_area_has_no_verdict_from_right_answers(self, cut_off):
        run = cut_off("area", "accuracy", only_d=True)
        (row,) = run.wins_ties_losses().to_dict("records")
        assert (row["verdict"], row["published"], row["sound"]) == ("no verdict",) * 3
        assert row["difference"] == pytest.approx(-0.08) and row["reason"] == "fewer than 5 pairs"
        assert run.wins_ties_losses(metric="accuracy")["sound"].tolist() == ["win"]
        text = " ".join(verdict_notes(run))
        assert "tests of decisions compare accuracies, not area: there is no verdict on a dataset" in text
        assert "by the exact McNemar" not in text and "corrected resampled" not in text
        (row,) = [row for row in score_table(run).rows if row[0].text == "W/T/L"]
        assert [cell.text for cell in row[1:]] == ["0/0/0 (1)", "–"]  # the best mean is first

    def test_the_datasets_that_have_it_are_named_with_the_test(self, cut_off):
        by = "On d methods are compared on a single test set: verdicts and detectable differences are by the exact"
        assert f"{by} McNemar" in " ".join(verdict_notes(cut_off("accuracy", "area")))
        text = " ".join(verdict_notes(cut_off("area", "accuracy")))
        assert "McNemar" not in text and "no test is possible (fewer than 5 pairs: d (B))" in text


def test_an_s_test_marks_no_score_that_it_does_not_judge(write_run):
    run = write_run({("d", "A"): 0.9, ("d", "B"): 0.8}, metrics=("balanced_accuracy",), report={"test": "s-test"})
    assert not any(mark in cell.text for cell in score_table(run).rows[0] for mark in S_MARKS.values())
    assert "(s-test compares decisions, not balanced_accuracy: d (B))" in " ".join(verdict_notes(run))


class TestNotes:
    def test_they_name_test_level_and_reference(self, small_run, write_run):
        text = "\n".join(verdict_notes(small_run))
        assert "corrected resampled t-test" in text
        assert "α = 0.05" in text
        assert "B wins" in text
        plain = write_run({("d", "A"): 0.5, ("d", "B"): 0.6}, report={"test": "paired-t", "alpha": 0.1})
        text = "\n".join(verdict_notes(plain))
        assert "treats overlapping folds as independent" in text
        assert "α = 0.1" in text


def test_overlapping_folds_have_a_published_and_a_sound_verdict(small_run):
    assert relation_of_test_sets(small_run) == "overlapping"
    assert verdict_columns(small_run) == [
        ("papers' rule W/T/L", "published_"),
        ("sound W/T/L", "sound_"),
    ]


def test_the_actual_level_of_each_test_is_stated(small_run):
    text = " ".join(verdict_notes(small_run))
    assert "Actual level at a nominal 5 %" in text
    assert "paired-t 5 to 14 % (10 folds)" in text and "corrected-t 1 to 5 % (10 folds)" in text


def test_levels_of_another_design_say_so(write_run):
    cells = {("d", "A"): 0.5, ("d", "B"): 0.6}
    warning = "this run's design, 5 folds, were not measured"
    assert warning in " ".join(verdict_notes(write_run(cells)))
    assert "were not measured" not in " ".join(verdict_notes(write_run(cells, folds=10)))


class TestLimits:
    def run(self, write_run):
        base = [0.70, 0.72, 0.75, 0.71, 0.74]
        noisy = [0.71, 0.70, 0.76, 0.69, 0.75]
        return write_run(
            {
                ("d", "A"): base, ("d", "B"): [score - 0.1 for score in base], ("d", "C"): noisy,
                ("e", "A"): base, ("e", "B"): noisy, ("e", "C"): list(base),
            }
        )  # fmt: skip

    def test_a_count_without_verdict_stands_in_brackets_with_its_reason(self, write_run):
        run = self.run(write_run)
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in score_table(run).rows}
        assert rows["sound W/T/L"] == rows["papers' rule W/T/L"] == ["–", "0/2/0", "0/1/0 (1)"]
        assert not rows["d"][2].endswith(("?", "≈")), "other pairs tell the variance of its difference from the best"
        text = " ".join(verdict_notes(run))
        assert "no test is possible (all differences are equal: d (B))" in text
        assert "Ties without evidence, because all scores are identical: e (C)." in text
        assert "?:" not in text

    def test_two_methods_without_a_spread_have_no_verdict(self, write_run):
        scores = [0.9, 0.8, 0.85, 0.9, 0.8]
        run = write_run({("d", "A"): scores, ("d", "B"): [round(score - 0.1, 2) for score in scores]})
        assert score_table(run).rows[0][2].text.endswith("?")
        assert "?: no verdict on the difference from the best." in " ".join(verdict_notes(run))

    def test_the_notes_say_what_a_tie_could_have_missed(self, write_run, small_run):
        assert "smallest true difference from B that the corrected resampled t-test finds" in " ".join(
            verdict_notes(small_run)
        )
        assert "Detectable" not in " ".join(verdict_notes(write_run({("d", "A"): 0.5})))

    def test_reports_without_such_cases_have_no_note_on_them(self, small_run):
        text = " ".join(verdict_notes(small_run))
        assert "in brackets" not in text and "identical" not in text and "?:" not in text
