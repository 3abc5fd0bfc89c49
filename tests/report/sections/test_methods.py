"""The table of methods: one line for each, best rank first."""

from chart_data import data_of

from mfbench.report.charts.drawing import specification
from mfbench.report.sections.scores import methods


class TestMethodTable:
    def test_a_row_for_each_method_best_rank_first(self, small_run):
        table = methods(small_run).tables[0]
        rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
        assert list(rows) == ["A", "B", "C"]
        assert table.columns[4:6] == ["papers' rule W/T/L", "sound W/T/L"]
        assert rows["A"] == ["a → knn", "90.0", "1.00", "0/1/1", "0/1/1", "2.5 s", "2.0 MB", "–"]
        assert rows["B"][3:5] == ["reference", "reference"]
        assert rows["C"][-1] == "1 of 10"
        assert all(len(row) == len(table.columns) for row in table.rows)

    def test_no_rank_is_a_dash(self, write_run, failure):
        run = write_run({("d", "A"): [failure()] * 5, ("d", "B"): 0.5})
        rows = {row[0].text: [cell.text for cell in row] for row in methods(run).tables[0].rows}
        assert rows["A"][2:4] == ["–", "–"]
        assert rows["A"][-1] == "5 of 5"


class TestChart:
    def test_it_has_mean_and_time_of_each_method(self, small_run):
        (chart,) = methods(small_run).charts
        rows = data_of(specification(chart)).set_index("method")
        summary = small_run.summary().set_index("method")
        assert rows["mean"].to_dict() == summary["mean"].to_dict()
        assert rows["seconds"].to_dict() == (summary["total_seconds"] / summary["planned"]).to_dict()
        assert chart.title == "Mean accuracy against time"

    def test_a_small_loss_is_on_the_front(self, write_run):
        run = write_run({("d", "A"): 0.25, ("d", "B"): 0.5}, metrics=["log_loss"])
        (chart,) = methods(run).charts
        assert data_of(specification(chart)).set_index("method")["front"].to_dict() == {"A": True, "B": False}

    def test_one_method_has_none(self, write_run):
        assert not methods(write_run({("d", "A"): 0.5})).charts


def test_methods_tuned_per_dataset_are_called_optimistic(write_run):
    cells = {("d", "A"): 0.5, ("d", "B"): 0.4}
    (note,) = methods(write_run(cells, selection={"A": "nested", "B": "per-dataset"})).notes
    assert note.startswith("Tuned per dataset: B.") and "optimistic" in note
    assert not methods(write_run(cells, selection={"A": "nested"})).notes
