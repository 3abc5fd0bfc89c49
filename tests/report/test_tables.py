"""The cells of a report agree with the scores behind them."""

import numpy as np
import pytest

from mfbench.report.tables import (
    BEST,
    MARK,
    MISSING,
    NOT_WORSE,
    PLAIN,
    headline,
    notes,
    score_table,
    seconds,
    setting,
    summary_table,
)
from mfbench.trials import Status, TrialResult


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
        scores = small_run.scores.set_index(["dataset", "method"])
        assert len(scores) == 6
        for place, row in scores.iterrows():
            cell = cells[place]
            expected = BEST if row["best"] else NOT_WORSE if row["not_worse"] else PLAIN if row["complete"] else MISSING
            assert cell.role == expected
            assert (MARK in cell.text) == (expected == NOT_WORSE)
            assert cell.text.startswith(f"{100 * row['mean']:.1f} ± {100 * row['sd']:.1f}")

    def test_this_run_has_every_role(self, small_run):
        cells = cells_of(score_table(small_run))
        assert cells["iris", "A"].role == BEST
        assert cells["iris", "B"].role == NOT_WORSE
        assert cells["iris", "C"].role == PLAIN
        assert cells["wine", "B"].role == PLAIN
        assert cells["wine", "C"].role == MISSING
        assert cells["wine", "C"].text == "99.0 ± 0.0 (4/5)"
        assert cells["wine", "A"].role == BEST

    def test_every_dataset_has_a_best_with_the_largest_mean(self, small_run):
        cells = cells_of(score_table(small_run))
        for dataset in ("iris", "wine"):
            complete = [c for (d, _), c in cells.items() if d == dataset and c.role != MISSING]
            means = [float(cell.text.split(" ")[0]) for cell in complete]
            assert [mean == max(means) for mean in means] == [cell.role == BEST for cell in complete]

    def test_totals_are_at_the_foot(self, small_run):
        table = score_table(small_run)
        assert table.columns == ["dataset", "A", "B", "C"]
        assert table.footer_rows == 3
        assert [cell.text for cell in table.rows[-3]] == ["published W/T/L", "0/1/1", "–", "1/0/0"]
        assert [cell.text for cell in table.rows[-2]] == ["sound W/T/L", "0/1/1", "–", "1/0/0"]
        assert [cell.text for cell in table.rows[-1]] == ["average rank", "1.00", "2.00", "3.00"]

    def test_one_method_alone_has_no_totals(self, write_run):
        table = score_table(write_run({("d", "A"): 0.5}))
        assert (len(table.rows), table.footer_rows) == (1, 0)

    def test_nothing_completed_is_a_dash(self, write_run, failure):
        run = write_run({("d", "A"): [failure()] * 5, ("d", "B"): [None] * 5, ("d", "C"): 0.5})
        cells = cells_of(score_table(run))
        assert [cells["d", name].text for name in "AB"] == ["–", "–"]
        assert [cells["d", name].role for name in "AB"] == [MISSING, MISSING]
        assert cells["average rank", "A"].text == "–"

    def test_a_metric_that_is_no_share_is_not_in_percent(self, write_run):
        table = score_table(write_run({("d", "A"): 0.25, ("d", "B"): 0.5}, metrics=["log_loss"]))
        assert "percent" not in table.title
        cells = cells_of(table)
        assert cells["d", "A"].text.startswith("0.250 ± 0.0")
        assert (cells["d", "A"].role, cells["d", "B"].role) == (BEST, PLAIN)
        assert "accuracy, percent" in score_table(write_run({("d", "A"): 0.25})).title

    def test_scores_that_do_not_exist_are_a_dash(self, write_run):
        run = write_run({("d", "A"): [{} for _ in range(5)], ("d", "B"): 0.5}, metrics=["log_loss"])
        assert cells_of(score_table(run))["d", "A"].text.startswith("–")


class TestSummaryTable:
    def test_a_row_for_each_method_best_rank_first(self, small_run):
        table = summary_table(small_run)
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
        assert list(rows) == ["A", "B", "C"]
        assert table.columns[4:6] == ["published W/T/L", "sound W/T/L"]
        assert rows["A"] == ["a → knn", "90.0", "1.00", "0/1/1", "0/1/1", "2.5 s", "2.0 MB", "–"]
        assert rows["B"][3:5] == ["reference", "reference"]
        assert rows["C"][-1] == "1 of 10"
        assert all(len(row) == len(table.columns) for row in table.rows)

    def test_no_rank_is_a_dash(self, write_run, failure):
        run = write_run({("d", "A"): [failure()] * 5, ("d", "B"): 0.5})
        rows = {row[0].text: [cell.text for cell in row] for row in summary_table(run).rows}
        assert rows["A"][2:4] == ["–", "–"]
        assert rows["A"][-1] == "5 of 5"


class TestNotes:
    def test_they_tell_test_level_and_reference(self, small_run, write_run):
        text = "\n".join(notes(small_run))
        assert "corrected resampled t-test" in text
        assert "α = 0.05" in text
        assert "B wins" in text
        plain = write_run({("d", "A"): 0.5, ("d", "B"): 0.6}, report={"test": "paired-t", "alpha": 0.1})
        text = "\n".join(notes(plain))
        assert "treats overlapping folds as independent" in text
        assert "α = 0.1" in text

    def test_what_is_missing_is_said(self, small_run):
        lines = notes(small_run)
        assert "Left out: gone: no network" in lines
        assert "Failed: C on wine: 1 × error: ValueError: no | way at all" in lines
        assert not any(line.startswith("Not run yet") for line in lines)

    def test_a_failure_without_a_message_beside_one_with(self, write_run, failure):
        run = write_run({("d", "A"): [failure(), failure(Status.MEMORY, "MemoryError", ""), 0.5, 0.5, 0.5]})
        assert "Failed: A on d: 1 × memory: MemoryError: no message" in notes(run)

    def test_failures_are_grouped_by_status(self, write_run, failure):
        late = failure(Status.TIMEOUT, "TimeoutError", "too late")
        run = write_run({("d", "A"): [failure(), failure(), late, 0.5, 0.5]})
        failed = [line for line in notes(run) if line.startswith("Failed")]
        assert failed == [
            "Failed: A on d: 2 × error: ValueError: no way",
            "Failed: A on d: 1 × timeout: TimeoutError: too late",
        ]

    def test_what_has_not_run_is_counted(self, write_run):
        run = write_run({("d", "A"): [0.5, 0.5, None, None, None]})
        assert any(line.startswith("Not run yet: 3 of 5 trials") for line in notes(run))

    def test_warnings_are_told_by_method(self, write_run):
        def warned():
            return TrialResult(key="", scores={"accuracy": 0.5}, n_warnings=2, warning="UserWarning: did not converge")

        run = write_run({("d", "A"): [warned(), warned(), 0.5, 0.5, 0.5], ("d", "B"): 0.5})
        assert [line for line in notes(run) if "Warnings" in line] == [
            "Warnings: A: in 2 trials, such as UserWarning: did not converge"
        ]

    def test_long_messages_are_cut(self, write_run, failure):
        run = write_run({("d", "A"): [failure(message="x" * 900), 0.5, 0.5, 0.5, 0.5]})
        (line,) = [line for line in notes(run) if line.startswith("Failed")]
        assert len(line) < 300
        assert line.endswith("…")


class TestHeads:
    def test_the_title_or_the_name(self, write_run):
        assert headline(write_run({("d", "A"): 0.5})) == "Own suite"
        assert headline(write_run({("d", "A"): 0.5}, title="")) == "own"

    def test_the_setting_is_that_of_the_protocol(self, small_run):
        text = setting(small_run)
        assert "profile quick: 5-fold cross-validation, stratified, all classes" in text
        assert "seed 7" in text
        assert "repeated" not in text
        assert "tuning by inner 5-fold cross-validation" in text

    def test_tuning_per_dataset_is_said_in_the_setting_and_the_notes(self, write_run):
        cells = {("d", "A"): 0.5, ("d", "B"): 0.4}
        both = write_run(cells, selection={"A": "nested", "B": "per-dataset"})
        assert "tuning per dataset on the folds reported or by inner 5-fold cross-validation, seed" in setting(both)
        (line,) = [line for line in notes(both) if line.startswith("Tuned per dataset")]
        assert line.startswith("Tuned per dataset: B: ") and "optimistic" in line
        alone = write_run(cells, selection={"A": "per-dataset"})
        assert "tuning per dataset on the folds reported, seed" in setting(alone)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ms"),
        (0.0004, "0 ms"),
        (0.5, "500 ms"),
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (360000, "100 h 0 min"),
    ],
)
def test_durations_read_well(value, text):
    assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.9996, "1.0 s"), (59.96, "1 min 0 s")])
def test_durations_at_the_edge_of_a_unit(value, text):
    assert seconds(value) == text


def test_the_hand_written_run_is_what_it_claims(small_run):
    assert small_run.scores.set_index(["dataset", "method"])["mean"].round(3).to_dict() == {
        ("iris", "A"): 0.9, ("iris", "B"): 0.899, ("iris", "C"): 0.5,
        ("wine", "A"): 0.8, ("wine", "B"): 0.6, ("wine", "C"): 0.99,
    }  # fmt: skip
    assert np.isfinite(small_run.trials["accuracy"]).sum() == 29
