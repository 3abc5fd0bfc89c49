"""What the table of scores shows on demand: means, published figures, and an order that is that of the table."""

import json

import numpy as np
import pytest

from mfbench.report.render.html.tables import Group, details_of, score_data
from mfbench.report.sections.scores import score_table
from mfbench.run.merging import merge_runs
from mfbench.stats.results import Run
from mfbench.suite.published import PublishedFigure


def data_of(run, groups=()):
    return score_data(run, score_table(run), list(groups))


@pytest.fixture
def run(write_run, failure):
    cells = {
        ("wine", "A"): [0.8, 0.7, 0.9, 0.8, 0.8],
        ("wine", "B"): [failure()] * 5,
        ("iris", "A"): [0.9, 0.9, 0.9, 1.0, 0.9],
        ("iris", "B"): [0.5, 0.5, 0.5, failure(), None],
    }
    figures = [
        PublishedFigure("t", "wine", "A", "Wine", 0.82, ""),
        PublishedFigure("t", "iris", "B", "Iris", 0.4, ""),
    ]
    return write_run(cells, published=figures)


def test_values_are_the_means_in_the_order_of_the_table(run):
    data = data_of(run)
    assert (data.datasets, data.methods, data.first) == (["wine", "iris"], ["A", "B"], 1)
    assert [row[0].text for row in data.table.rows[:2]] == data.datasets
    # One trial of B on iris has not run, so the means are those of the four folds that both have.
    assert data.values == [[pytest.approx(0.8), None], [pytest.approx(0.925), pytest.approx(0.5)]]
    assert (data.metric, data.greater_is_better) == ("accuracy", True)


def test_published_figures_and_differences_are_in_percent(run):
    assert data_of(run).published == [["82.0 (-2.0)", ""], ["", "40.0 (+10.0)"]]


def test_scores_that_are_no_share_keep_their_unit(write_run):
    figures = [PublishedFigure("t", "iris", "A", "Iris", 0.25, "")]
    run = write_run({("iris", "A"): [0.5] * 5, ("iris", "B"): [0.75] * 5}, metrics=("log_loss",), published=figures)
    data = data_of(run)
    assert not data.greater_is_better
    assert data.published == [["0.250 (+0.250)", ""]]
    assert data.values == [[0.5, 0.75]]


def test_details_are_those_of_each_cell(run):
    details = details_of(run)
    assert data_of(run).details == [[details[d, m] for m in "AB"] for d in ("wine", "iris")]


def test_a_column_before_the_methods_is_skipped(write_run):
    cells = {("iris", m): list(0.8 + np.linspace(-0.1, 0.1, 5)) for m in "AB"}
    data = data_of(write_run(cells, metrics=("one_vs_rest_accuracy",)))
    assert data.table.columns == ["dataset", "trivial", "A", "B"]
    assert data.first == 2


def test_the_script_reads_plain_values(run):
    group = Group("all 2 datasets", [["average rank", "1.00", "–"]], ["A is ahead."])
    plain = json.loads(json.dumps(data_of(run, [group]).as_plain(), allow_nan=False))
    assert plain["groups"] == [{"title": group.title, "rows": group.rows, "answer": group.answer}]
    assert plain["datasets"] == ["wine", "iris"]
    assert len(plain["details"]) == len(plain["published"]) == 2


class TestMissing:
    def test_each_kind_has_its_word(self, run):
        assert data_of(run).missing == [["", "failed"], ["", "partial"]]

    def test_a_value_that_stands_for_a_cell_is_imputed(self, write_run, failure):
        cells = {(d, m): 0.5 + k / 10 for d in ("iris", "wine", "sonar") for k, m in enumerate("AB")}
        cells["wine", "B"] = [failure()] * 5
        run = write_run(cells, report={"missing": "worst-rank"})
        assert data_of(run).missing == [["", ""], ["imputed", ""], ["", ""]]

    def test_a_cell_that_has_not_run_is_not_imputed(self, write_run):
        cells = {(d, m): 0.5 + k / 10 for d in ("iris", "wine", "sonar") for k, m in enumerate("AB")}
        cells["wine", "B"] = [None] * 5
        run = write_run(cells, report={"missing": "worst-rank"})
        assert data_of(run).missing[1] == ["pending", ""]

    def test_a_cell_of_no_joined_run_is_absent(self, write_run, tmp_path):
        parts = [
            write_run({(f"d{i}", m): 0.5 + k / 10 for i in range(2) for k, m in enumerate("AB")}),
            write_run({("d1", "C"): 0.9}),
        ]
        merge_runs([part.path for part in parts], tmp_path / "joined")
        assert data_of(Run(tmp_path / "joined")).missing == [["absent", "", ""], ["", "", ""]]
