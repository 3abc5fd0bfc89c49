"""Reports in the form that was requested, and what is refused."""

import io
import json
import os

import pytest
from rich.console import Console

from mfbench.errors import MfbenchError, UnknownNameError, UsageError
from mfbench.report import present
from mfbench.report.heading import Form
from mfbench.report.present import choose, present_run, show_run, write_charts, write_page
from mfbench.run.merging import merge_runs
from mfbench.stats.results import Run


@pytest.fixture
def run(write_run):
    return write_run({(f"d{i}", m): 0.5 + k / 10 + i / 100 for i in range(4) for k, m in enumerate("AB")})


def console():
    return Console(file=io.StringIO(), width=120)


def test_the_terminal_form_is_printed(run):
    screen = console()
    assert present_run(run, Form(), screen) == ""
    again = console()
    show_run(run, again)
    assert screen.file.getvalue() == again.file.getvalue() != ""


def test_every_other_form_is_returned(run):
    assert present_run(run, Form("md"), console()).startswith("# Own suite\n\nMade by\n\n    mfbench suite own")
    assert present_run(run, Form("csv"), console()).startswith("dataset,method,mean")
    assert json.loads(present_run(run, Form("json"), console()))["plugin_data"] == {}
    assert "CD = " in present_run(run, Form("figure", "critical-difference"), console())
    assert "fastest method" in present_run(run, Form("figure", "time-profile"), console())


def test_another_reference(run):
    assert json.loads(present_run(choose(run, "B", None), Form("json"), console()))["reference"] == "B"
    with pytest.raises(UnknownNameError, match=r"unknown method '.*' of this run"):
        choose(run, "Z", None)


def test_a_chart_that_cannot_be_drawn_is_refused(write_run):
    run = write_run({("d", "A"): [None] * 5})
    with pytest.raises(UnknownNameError, match="unknown figure 'critical-difference' of this report"):
        present_run(run, Form("figure", "critical-difference"), console())


@pytest.mark.parametrize("form", ["terminal", "md", "latex", "json", "csv", "html"])
def test_joined_runs_may_have_cells_that_no_run_planned(write_run, tmp_path, form):
    parts = [
        write_run({(f"d{i}", m): 0.5 + k / 10 for i in range(3) for k, m in enumerate("AB")}),
        write_run({("d1", "C"): 0.9, ("d2", "C"): 0.9}),
    ]
    remarks = merge_runs([part.path for part in parts], tmp_path / "joined")
    joined = Run(tmp_path / "joined")
    assert remarks == ["No run has 1 cell of 3 datasets × 3 methods."]
    screen = console()
    text = present_run(joined, Form(form, joined=("a", "b")), screen) or screen.file.getvalue()
    assert "C" in text
    # The dataset without the cell counts neither for ranks nor for times; it is not a loss of the method.
    assert joined.overall().n_datasets == 2
    assert joined.overall().ranks.index[0] == "C"
    assert list(joined.time_ratios.index) == ["d1", "d2"]


class TestPage:
    def screen(self, run):
        screen = console()
        show_run(run, screen)
        return " ".join(screen.file.getvalue().split())

    def test_the_page_of_the_run_is_named(self, run):
        assert "--open" in self.screen(run)
        write_page(run)
        assert f"Page: {run.path / 'report.html'}" in self.screen(run)

    def test_a_page_older_than_the_results_is_not(self, run):
        page = write_page(run)
        os.utime(page, (0, 0))
        assert "Page: mfbench report" in self.screen(run)

    def test_nor_is_one_with_another_reference(self, run):
        write_page(run)
        assert f"Page: mfbench report {run.path} --reference B --open" in self.screen(choose(run, "B", None))


def test_the_reference_of_the_suite_stays_if_none_is_named(run):
    before = run.settings.reference
    assert choose(run, None, None) is run
    assert choose(run, "B", None).settings.reference == "B"
    assert run.settings.reference == before


class TestCharts:
    def test_one_that_cannot_be_drawn_does_not_cost_the_others(self, run, tmp_path, monkeypatch):
        def picture(chart, form, title):
            if chart.name == "score-time":
                raise ValueError("too hard")
            return b"<svg/>"

        monkeypatch.setattr(present, "picture", picture)
        with pytest.raises(MfbenchError, match=r"^cannot draw the chart 'score-time': too hard$"):
            write_charts(run, tmp_path)
        names = {path.name for path in tmp_path.iterdir()}
        assert {"critical-difference.svg", "time-profile.svg"} <= names
        assert "score-time.svg" not in names


def test_a_report_shows_the_metric_that_is_chosen(write_run):
    def cell(accuracy, balanced):
        return [{"accuracy": accuracy + fold / 100, "balanced_accuracy": balanced + fold / 100} for fold in range(5)]

    cells = {("d", "A"): cell(0.9, 0.5), ("d", "B"): cell(0.8, 0.7)}
    run = write_run(cells, metrics=("accuracy", "balanced_accuracy"))
    chosen = choose(run, None, "balanced_accuracy")
    text = present_run(chosen, Form("md"), console())
    assert "balanced_accuracy, percent: mean ± sd over folds" in text
    assert "| d | **72.0 ± 1.6** | 52.0 ± 1.6 ? |" in text
    assert "mfbench report own --metric balanced_accuracy --md" in text
    assert json.loads(present_run(chosen, Form("json"), console()))["metric"] == "balanced_accuracy"
    assert chosen.restricted(["d"]).settings.metric == "balanced_accuracy"
    with pytest.raises(UsageError, match="unknown metric 'area' of this run: choose from"):
        choose(run, None, "area")
