"""The cells of the score table agree with the scores behind them; marks follow the test."""

import numpy as np
import pytest
from chart_data import data_of

from mfbench.report.cells import MARK
from mfbench.report.charts.drawing import specification
from mfbench.report.sections.scores import score_table, scores, trivial_accuracies
from mfbench.suite.published import PublishedCount, PublishedFigure


def cells_of(table):
    """Return {(row, column): cell}."""
    return {
        (row[0].text, column): cell
        for row in table.rows
        for column, cell in zip(table.columns[1:], row[1:], strict=True)
    }


class TestScoreTable:
    def test_roles_and_marks_follow_the_scores(self, small_run):
        cells = cells_of(score_table(small_run))
        means = small_run.scores.set_index(["dataset", "method"])
        assert len(means) == 6
        for coordinates, row in means.iterrows():
            cell = cells[coordinates]
            expected = (
                "best"
                if row["best"]
                else "not-worse"
                if row["not_worse"]
                else "plain"
                if row["complete"]
                else "missing"
            )
            assert cell.role == expected
            assert (MARK in cell.text) == (expected == "not-worse")
            assert cell.text.startswith(f"{100 * row['mean']:.1f} ± {100 * row['sd']:.1f}")

    def test_this_run_has_every_role(self, small_run):
        cells = cells_of(score_table(small_run))
        assert cells["iris", "A"].role == "best"
        assert cells["iris", "B"].role == "not-worse"
        assert cells["iris", "C"].role == "plain"
        assert cells["wine", "B"].role == "plain"
        assert cells["wine", "C"].role == "missing"
        assert cells["wine", "C"].text == "99.0 ± 0.0 (4/5)"
        assert cells["wine", "A"].role == "best"

    def test_every_dataset_has_a_best_with_the_largest_mean(self, small_run):
        cells = cells_of(score_table(small_run))
        for dataset in ("iris", "wine"):
            complete = [c for (d, _), c in cells.items() if d == dataset and c.role != "missing"]
            means = [float(cell.text.split(" ")[0]) for cell in complete]
            assert [mean == max(means) for mean in means] == [cell.role == "best" for cell in complete]

    def test_totals_are_at_the_foot(self, small_run):
        table = score_table(small_run)
        assert table.columns == ["dataset", "A", "B", "C"]
        assert table.footer_rows == 4
        assert [cell.text for cell in table.rows[-4]] == ["papers' rule W/T/L", "0/1/1", "–", "1/0/0"]
        assert [cell.text for cell in table.rows[-3]] == ["sound W/T/L", "0/1/1", "–", "1/0/0"]
        sizes = small_run.wins_ties_losses().groupby("method")["detectable"].median()
        assert [cell.text for cell in table.rows[-2]] == [
            "detectable, median", f"{100 * sizes['A']:.1f}", "–", f"{100 * sizes['C']:.1f}",
        ]  # fmt: skip
        assert [cell.text for cell in table.rows[-1]] == ["average rank", "1.00", "2.00", "3.00"]

    def test_the_printed_totals_are_below_ours_by_the_same_rule(self, write_run):
        cells = {("iris", "A"): 0.9, ("iris", "B"): 0.8, ("iris", "C"): 0.7}
        figure = PublishedFigure("t", "iris", "C", "IRIS", 0.7)
        run = write_run(cells, published=[figure], counts=[PublishedCount("t", "A", "C", 17, 2, 1)])
        table = score_table(run)
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows[-table.footer_rows :]}
        assert list(rows) == [
            "papers' rule W/T/L", "printed W/T/L", "sound W/T/L", "detectable, median", "average rank",
        ]  # fmt: skip
        assert rows["printed W/T/L"] == ["–", "–", "17/2/1"]

    def test_totals_against_another_reference_are_not_below_ours(self, write_run):
        cells = {("iris", "A"): 0.9, ("iris", "B"): 0.8, ("iris", "C"): 0.7}
        figure = PublishedFigure("t", "iris", "C", "IRIS", 0.7)
        run = write_run(cells, published=[figure], counts=[PublishedCount("t", "B", "C", 17, 2, 1)])
        assert "printed W/T/L" not in [row[0].text for row in score_table(run).rows]

    def test_one_method_alone_has_no_totals(self, write_run):
        table = score_table(write_run({("d", "A"): 0.5}))
        assert (len(table.rows), table.footer_rows) == (1, 0)

    def test_nothing_completed_is_a_dash(self, write_run, failure):
        run = write_run({("d", "A"): [failure()] * 5, ("d", "B"): [None] * 5, ("d", "C"): 0.5})
        cells = cells_of(score_table(run))
        assert [cells["d", name].text for name in "AB"] == ["–", "–"]
        assert [cells["d", name].role for name in "AB"] == ["missing", "missing"]
        assert cells["average rank", "A"].text == "–"

    def test_a_metric_that_is_no_share_is_not_in_percent(self, write_run):
        run = write_run({("d", "A"): 0.25, ("d", "B"): 0.5}, metrics=["log_loss"])
        table = score_table(run)
        assert "percent" not in scores(run).title
        cells = cells_of(table)
        assert cells["d", "A"].text.startswith("0.250 ± 0.0")
        assert (cells["d", "A"].role, cells["d", "B"].role) == ("best", "plain")
        assert "Accuracy, percent" in scores(write_run({("d", "A"): 0.25})).title

    def test_scores_that_do_not_exist_are_a_dash(self, write_run):
        run = write_run({("d", "A"): [{} for _ in range(5)], ("d", "B"): 0.5}, metrics=["log_loss"])
        assert cells_of(score_table(run))["d", "A"].text.startswith("–")


class TestChart:
    def test_its_bars_are_the_counts_of_the_table(self, small_run):
        (chart,) = scores(small_run).charts
        bars = data_of(specification(chart)).set_index(["rule", "method", "outcome"])["datasets"].to_dict()
        table = score_table(small_run)
        for row in table.rows[-4:-2]:
            for method, cell in zip(table.columns[1:], row[1:], strict=True):
                counts = [bars.get((row[0].text, method, outcome), 0) for outcome in ("win", "tie", "loss")]
                assert cell.text == ("–" if method == "B" else "/".join(map(str, counts)))
        assert chart.title == "Wins, ties and losses of B"

    def test_one_method_has_none(self, write_run):
        assert not scores(write_run({("d", "A"): 0.5})).charts


class TestMarksOfTheSTest:
    @pytest.fixture
    def run(self, write_run):
        run = write_run({("d", m): [1.0] for m in "ABC"}, report={"test": "s-test", "reference": "B"})
        truth = np.tile([0, 1], 20)
        wrong = {"A": 0, "B": 8, "C": 20}
        run.decisions = lambda dataset, method: [np.arange(40) >= wrong[method]]
        assert len(truth) == 40
        return run

    def test_cells_carry_them_from_the_methods_side(self, run):
        cells = cells_of(score_table(run))
        assert [cells["d", m].text[-1] for m in "AC"] == ["≫", "≪"]
        assert cells["d", "B"].text.startswith("100.0") and cells["d", "B"].text[-1] not in "≫≪><="
        assert MARK not in "".join(cell.text for cell in cells.values())
        assert "≫ and ≪: better and worse than B at level 0.01" in " ".join(scores(run).notes)

    def test_a_reference_that_is_not_the_best_has_no_mark_of_another_test(self, write_run):
        values = {"A": [0.8, 0.9, 0.7, 0.8, 0.9], "B": [0.7, 0.9, 0.7, 0.8, 0.9]}
        run = write_run({("d", m): scores for m, scores in values.items()}, report={"test": "s-test", "reference": "B"})
        run.decisions = lambda dataset, method: [np.ones(8, dtype=bool)] * 5
        cell = cells_of(score_table(run))["d", "B"]
        assert cell.text == "80.0 ± 10.0" and cell.role == "plain"

    def test_the_row_of_the_rule_is_added(self, run):
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in score_table(run).rows}
        assert rows["s-test W/T/L"] == ["0/0/1", "–", "1/0/0"]


def test_what_constant_decisions_score_is_a_column_next_to_one_metric(write_run):
    run = write_run({("d", "A"): 0.9, ("d", "B"): 0.8}, metrics=("one_vs_rest_accuracy",))
    # The truth of the datasets written by hand is 0, 1, 1, 1.
    assert trivial_accuracies(run) == {"d": 0.75}
    table = score_table(run)
    assert table.columns == ["dataset", "trivial", "A", "B"]
    assert [row[1].text for row in table.rows] == ["75.0", "–", "–", "–", "–"]
    assert "rejecting every class" in " ".join(scores(run).notes).lower()


def test_the_hand_written_run_is_what_it_claims(small_run):
    assert small_run.scores.set_index(["dataset", "method"])["mean"].round(3).to_dict() == {
        ("iris", "A"): 0.9, ("iris", "B"): 0.899, ("iris", "C"): 0.5,
        ("wine", "A"): 0.8, ("wine", "B"): 0.6, ("wine", "C"): 0.99,
    }  # fmt: skip
    assert np.isfinite(small_run.trials["accuracy"]).sum() == 29
