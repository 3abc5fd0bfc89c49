"""What a run's report says across datasets, of missing cells, of marks, and of methods equal by construction."""

import json

import numpy as np
import pytest

from mfbench.report.export import to_json, to_markdown
from mfbench.report.page import page_of
from mfbench.report.tables import MARK, PLAIN, Table, notes, score_table
from mfbench.run.store import Store


def cells_of(table):
    return {
        (row[0].text, name): cell for row in table.rows for name, cell in zip(table.columns[1:], row[1:], strict=True)
    }


@pytest.fixture
def run(write_run):
    rng = np.random.default_rng(0)
    cells = {(f"d{i}", m): 0.7 + 0.02 * k + rng.normal(0, 0.005) for i in range(8) for k, m in enumerate("ABC")}
    return write_run(cells, report={"reference": "C"})


def titles(page):
    return [part.title for part in page.parts]


def test_the_table_across_datasets_is_that_of_the_statistics(run):
    (table,) = [part for part in page_of(run).parts if part.title.startswith("across 8 datasets, C against")]
    frame = run.overall().against_reference
    assert [row[0].text for row in table.rows] == frame["second"].tolist() == ["B", "A"]
    for row, found in zip(table.rows, frame.to_dict("records"), strict=True):
        assert row[2].text == f"{100 * found['mean']:+.2f}"
        assert row[-1].text == "C better"
        assert row[3].text.startswith(f"{100 * found['difference']:+.1f} [")


def test_details_come_on_request(run):
    short, long = titles(page_of(run)), titles(page_of(run, statistics=True))
    assert "critical-difference diagram" in short
    more = [title for title in long if title not in short]
    assert [title.split()[0] for title in more] == ["all", "share", "time:", "features"]


def test_every_form_holds_it(run):
    markdown = to_markdown(run, statistics=True)
    for part in ("## Across 8 datasets", "```text", "## All 3 pairs", "## Time: share"):
        assert part in markdown
    overall = json.loads(to_json(run))["overall"]
    assert overall["ranks"] == {"C": 1.0, "B": 2.0, "A": 3.0}
    assert len(overall["pairs"]) == 3
    assert overall["win_probabilities"]["C"]["A"] == 1.0


def test_the_footer_tells_the_level_really_held(run):
    text = " ".join(notes(run))
    assert "Level really held at a nominal 5 %" in text
    assert "paired-t 5 to 14 % (10 folds)" in text and "corrected-t 1 to 5 % (10 folds)" in text


class TestMissingCells:
    def run(self, write_run, failure, policy):
        cells = {("d", "A"): 0.8, ("d", "B"): 0.7, ("e", "A"): 0.9, ("f", "A"): 0.6, ("f", "B"): 0.9}
        cells["e", "B"] = [failure()] * 5
        return write_run(cells, report={"missing": policy})

    def text(self, run):
        return " ".join(page_of(run).notes)

    def test_dropped(self, write_run, failure):
        run = self.run(write_run, failure, "drop-dataset")
        assert run.summary().set_index("method")["rank"].to_dict() == {"A": 1.5, "B": 1.5}
        assert "Left out across datasets, because a method has no score: e." in self.text(run)

    def test_last_rank(self, write_run, failure):
        run = self.run(write_run, failure, "worst-rank")
        assert run.summary().set_index("method")["rank"].round(3).to_dict() == {"A": 1.333, "B": 1.667}
        assert "1 cells without a score have the last rank" in self.text(run)

    def test_a_constant_guess(self, write_run, failure):
        run = self.run(write_run, failure, "impute-dummy")
        # The truth of the datasets written by hand is 0, 1, 1, 1.
        assert run.overall().completed.scores.loc["e", "B"] == 0.75
        assert "guessing the most frequent class" in self.text(run)


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
        assert "≫ and ≪: better and worse than B" in " ".join(notes(run))

    def test_a_reference_that_is_not_the_best_has_no_mark_of_another_test(self, write_run):
        values = {"A": [0.8, 0.9, 0.7, 0.8, 0.9], "B": [0.7, 0.9, 0.7, 0.8, 0.9]}
        run = write_run({("d", m): scores for m, scores in values.items()}, report={"test": "s-test", "reference": "B"})
        run.decisions = lambda dataset, method: [np.ones(8, dtype=bool)] * 5
        cell = cells_of(score_table(run))["d", "B"]
        assert cell.text == "80.0 ± 10.0" and cell.role == PLAIN

    def test_the_row_of_the_rule_is_added(self, run):
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in score_table(run).rows}
        assert rows["s-test W/T/L"] == ["0/0/1", "–", "1/0/0"]


class TestEqualByConstruction:
    def test_the_report_tells_what_rules_reject(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(6) for m in "AB"}
        run = write_run(cells, report={"equal": [["A", "B"]]})
        right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
        run.decisions = lambda dataset, method: right[method]
        table = page_of(run).parts[0]
        assert isinstance(table, Table) and table.title.startswith("rejected at α = 0.05")
        rules = {row[0].text: row[1].text for row in table.rows}
        assert rules["datasets"] == "6"
        rejected = run.rejections.set_index("rule")["rejected"]
        assert rules["paired t, first repetition"].startswith(
            f"{100 * rejected['paired t, first repetition'] / 6:.1f} ["
        )
        assert "every rejection is an error" in " ".join(page_of(run).notes)

    def test_a_pair_that_was_left_out_is_not_told(self, write_run):
        run = write_run({("d", "A"): 0.5, ("e", "A"): 0.5}, report={"equal": [["A", "Z"]]})
        assert run.equal_pairs == []


def test_columns_of_a_store_are_its_rows(write_run, failure):
    run = write_run({("d", "A"): [0.5, None, failure(), 0.25, 0.75], ("d", "B"): 0.5})
    columns = ("status", "scores", "fit_wall", "error_message")
    with Store(run.path, read_only=True) as store:
        rows, table = list(store.rows(columns)), store.table(columns)
        assert not store.has_candidates()
    assert set(rows[0]) == {"dataset", "method", "repeat", "fold", "key", "seed", *columns}
    for name in ("dataset", "fold", *columns):
        assert table[name] == [row[name] for row in rows]
