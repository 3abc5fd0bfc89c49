"""Tests across datasets: the table of the reference, all pairs, and cells without a score."""

import json

import numpy as np
import pytest

from mfbench.report.contents import across_datasets_of, ranks_of, report_of
from mfbench.report.render.files import to_json, to_markdown
from mfbench.run.store.store import Store


@pytest.fixture
def run(write_run):
    rng = np.random.default_rng(0)
    cells = {(f"d{i}", m): 0.7 + 0.02 * k + rng.normal(0, 0.005) for i in range(8) for k, m in enumerate("ABC")}
    return write_run(cells, report={"reference": "C"})


def test_the_tables_are_those_of_the_statistics(run):
    section = across_datasets_of(run)
    assert section.title == "Across 8 datasets"
    these, others = section.tables
    assert [table.title for table in section.tables] == ["On these 8 datasets", "On datasets like these"]
    claims = run.overall().claims
    assert [row[0].text for row in these.rows] == claims.methods == ["C", "B", "A"]
    assert [row[2].text for row in these.rows] == ["a", "b", "c"] == [row[1].text for row in others.rows]
    for place, name in enumerate(claims.methods[1:], 1):
        (own,), (other,) = (
            frame[frame["second"] == name].query("first == 'C'").to_dict("records")
            for frame in (claims.these, claims.like_these)
        )
        cells = [cell.text for cell in these.rows[place]]
        assert cells[3] == f"{100 * own['mean']:+.1f} [{100 * own['low']:+.1f}, {100 * own['high']:+.1f}]"
        assert cells[4] == f"[{100 * own['least']:+.1f}, {100 * own['most']:+.1f}]"
        assert cells[7] == f"{own['better']}/{own['within']}/{own['worse']}"
        cells = [cell.text for cell in others.rows[place]]
        assert cells[2].startswith(f"{100 * other['mean']:+.1f} [")
        assert cells[4] == f"{other['better']:.2f} [{other['better_low']:.2f}, {other['better_high']:.2f}]"
    assert [cell.text for cell in these.rows[0][3:]] == ["compared", *"––––"]


def test_a_reference_behind_the_best_is_compared_from_its_side(run):
    these, others = across_datasets_of(run.replace(reference="B")).tables
    assert these.columns[3] == "B ahead by"
    assert these.rows[0][3].text.startswith("-") and these.rows[2][3].text.startswith("+")
    assert others.rows[1][2].text == "compared"


def test_related_datasets_are_named(write_run):
    rng = np.random.default_rng(0)
    cells = {(f"d{i}", m): 0.7 + 0.02 * k + rng.normal(0, 0.005) for i in range(8) for k, m in enumerate("AB")}
    pages = {f"d{i}": f"https://example.org/{i // 2}" for i in range(2)}
    run = write_run(cells)
    for dataset in run._stored.datasets:
        dataset["source"] = pages.get(dataset["label"], "")
    assert run.overall().claims.n_families == 7
    assert "Related datasets, whose signs flip together: d0 and d1." in across_datasets_of(run).notes


def test_the_diagram_is_a_chart_of_the_section(run):
    (diagram,) = across_datasets_of(run).charts
    assert diagram.name == "critical-difference"
    assert any("●" in line for line in diagram.text(80))
    assert diagram.alt().startswith("Average ranks: C 1.00, B 2.00, A 3.00.")


def test_shares_of_wins(run):
    table = ranks_of(run).tables[2]
    rows = [[cell.text for cell in row] for row in table.rows]
    assert rows == [["C", "–", "1.00", "1.00"], ["B", "0.00", "–", "1.00"], ["A", "0.00", "0.00", "–"]]


def test_one_dataset_or_method_has_no_chart(write_run):
    for cells in ({("d", "A"): 0.5, ("d", "B"): 0.4}, {("d", "A"): 0.5, ("e", "A"): 0.4}):
        assert not across_datasets_of(write_run(cells)).charts


def test_methods_that_do_not_differ_significantly(write_run):
    run = write_run({(f"d{i}", m): 0.5 + 0.01 * ((i + k) % 2) for i in range(6) for k, m in enumerate("AB")})
    table = ranks_of(run).tables[0]
    assert (table.rows[0][-1].text, table.rows[0][-1].role) == ("not significant", "missing")


def test_ranks_have_three_tables_or_none(run, write_run):
    assert [table.title.split(" ")[0] for table in ranks_of(run).tables] == ["", "All", "Share"]
    assert not ranks_of(write_run({("d", "A"): 0.5})).has_content


def test_every_form_has_it(run):
    markdown = to_markdown(report_of(run, statistics=True))
    for part in ("## Across 8 datasets", "```text", "### All 3 pairs", "## Time: share"):
        assert part in markdown
    overall = json.loads(to_json(report_of(run, everything=True)))["overall"]
    assert overall["ranks"] == {"C": 1.0, "B": 2.0, "A": 3.0}
    assert len(overall["pairs"]) == 3
    assert overall["win_probabilities"]["C"]["A"] == 1.0


class TestMissingCells:
    def run(self, write_run, failure, policy):
        cells = {("d", "A"): 0.8, ("d", "B"): 0.7, ("e", "A"): 0.9, ("f", "A"): 0.6, ("f", "B"): 0.9}
        cells["e", "B"] = [failure()] * 5
        return write_run(cells, report={"missing": policy})

    def text(self, run):
        return " ".join(across_datasets_of(run).notes)

    def test_dropped(self, write_run, failure):
        run = self.run(write_run, failure, "drop-dataset")
        assert run.summary().set_index("method")["rank"].to_dict() == {"A": 1.5, "B": 1.5}
        assert "Datasets left out because a method has no score: e." in self.text(run)

    def test_last_rank(self, write_run, failure):
        run = self.run(write_run, failure, "worst-rank")
        assert run.summary().set_index("method")["rank"].round(3).to_dict() == {"A": 1.333, "B": 1.667}
        assert "Cells without a score, filled with the last rank" in self.text(run)

    def test_a_constant_guess(self, write_run, failure):
        run = self.run(write_run, failure, "impute-dummy")
        # The truth of the datasets written by hand is 0, 1, 1, 1.
        assert run.overall().completed.scores.loc["e", "B"] == 0.75
        assert "always predicting the most frequent class: 1." in self.text(run)


def test_columns_of_a_store_are_its_rows(write_run, failure):
    run = write_run({("d", "A"): [0.5, None, failure(), 0.25, 0.75], ("d", "B"): 0.5})
    columns = ("status", "scores", "fit_wall", "error_message")
    with Store(run.path, read_only=True) as store:
        rows, table = list(store.rows(columns)), store.table(columns)
        assert not store.has_any("candidates")
    assert set(rows[0]) == {"dataset", "method", "repeat", "fold", "key", "seed", *columns}
    for name in ("dataset", "fold", *columns):
        assert table[name] == [row[name] for row in rows]
