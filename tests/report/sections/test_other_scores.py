"""Other scores on datasets with one large class: which datasets, which scores, with which figures and marks."""

import json

import numpy as np
import pytest

from mfbench.report.contents import report_of
from mfbench.report.render.files import to_json, to_markdown
from mfbench.report.sections.scores import other_scores
from mfbench.stats.summary import LARGE

EVEN, LIMIT, SKEWED = [0, 1] * 10, [0] * 13 + [1] * 7, [0] * 14 + [1] * 6
METRICS = ("accuracy", "balanced_accuracy", "log_loss")


def folds(accuracy, balanced, loss):
    spread = 0.01 * np.array([-2, -1, 0, 1, 2])
    return [dict(zip(METRICS, (accuracy + d, balanced + d, loss + d), strict=True)) for d in spread]


@pytest.fixture
def run(write_run):
    cells = {(name, "A"): folds(0.7, 0.5, 0.9) for name in ("even", "limit", "skewed")}
    cells |= {(name, "B"): folds(0.7, 0.8, 0.4) for name in ("even", "limit", "skewed")}
    return write_run(cells, metrics=METRICS, truths={"even": EVEN, "limit": LIMIT, "skewed": SKEWED})


def test_only_datasets_beyond_the_limit_and_only_scores_that_show_a_constant_guess(run):
    assert run.largest_classes == {"even": 0.5, "limit": LARGE, "skewed": 0.7}
    frame = run.companions
    assert set(frame["dataset"]) == {"skewed"}
    assert frame["metric"].unique().tolist() == ["balanced_accuracy", "log_loss"]
    assert frame.set_index(["metric", "method"])["mean"].to_dict() == pytest.approx(
        {
            ("balanced_accuracy", "A"): 0.5,
            ("balanced_accuracy", "B"): 0.8,
            ("log_loss", "A"): 0.9,
            ("log_loss", "B"): 0.4,
        }
    )


def test_the_tables_mark_the_best_whatever_the_direction(run):
    balanced, loss = other_scores(run).tables
    assert balanced.title == "balanced_accuracy, percent, where one class exceeds 65 % of the rows"
    assert [cell.text for cell in balanced.rows[0]] == ["skewed", "70 %", "50.0 ± 1.6 ?", "80.0 ± 1.6"]
    assert [cell.text for cell in loss.rows[0]] == ["skewed", "70 %", "0.900 ± 0.016 ?", "0.400 ± 0.016"]
    for table in (balanced, loss):
        assert [cell.role for cell in table.rows[0][2:]] == ["marked", "best"], "no spread"


def test_a_classifier_without_scores_has_a_dash(write_run):
    nan = [{"accuracy": 0.9, "roc_auc": float("nan")}] * 5
    run = write_run(
        {("d", "A"): nan, ("d", "B"): [{"accuracy": 0.9, "roc_auc": 0.6}] * 5}, metrics=("accuracy", "roc_auc")
    )
    (table,) = other_scores(run).tables
    assert [cell.text for cell in table.rows[0]] == ["d", "75 %", "–", "60.0 ± 0.0"]


def test_every_form_holds_them(run):
    assert "skewed: a constant prediction has a high accuracy" in " ".join(other_scores(run).notes)
    assert "### balanced_accuracy, percent, where one class exceeds 65 % of the rows" in to_markdown(report_of(run))
    assert len(json.loads(to_json(report_of(run, everything=True)))["companions"]) == 4


def test_without_another_score_the_note_says_what_to_do(write_run):
    run = write_run({("skewed", "A"): 0.7}, truths={"skewed": SKEWED})
    assert not other_scores(run).tables
    (note,) = other_scores(run).notes
    assert "No other score was measured; add balanced_accuracy, log_loss or roc_auc" in note


def test_even_classes_or_another_score_have_no_section(write_run):
    even = write_run({("even", "A"): 0.7}, truths={"even": EVEN})
    other = write_run({("skewed", "A"): 0.7}, metrics=("balanced_accuracy",), truths={"skewed": SKEWED})
    for run in (even, other):
        assert not other_scores(run).has_content


def test_a_test_of_decisions_marks_only_the_table_of_accuracy(write_run):
    cells = {("d", "A"): folds(0.7, 0.5, 0.9), ("d", "B"): folds(0.7, 0.8, 0.4)}
    run = write_run(cells, metrics=METRICS, report={"test": "s-test-exact"})
    assert [cell.text for cell in other_scores(run).tables[0].rows[0]] == ["d", "75 %", "50.0 ± 1.6 ?", "80.0 ± 1.6"]
