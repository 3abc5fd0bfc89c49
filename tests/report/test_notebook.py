"""What a run shows in a notebook: its charts and its short report."""

import re

import numpy as np
import pytest

from mfbench.errors import UnknownNameError
from mfbench.report.present import Run

SPREAD = np.array([-0.02, -0.01, 0, 0.01, 0.02])


@pytest.fixture
def shown(write_run):
    """Return a function that writes a run, and opens it as users do."""
    return lambda *args, **kwargs: Run(write_run(*args, **kwargs).path)


@pytest.fixture
def run(shown):
    cells = {
        (dataset, method): list(0.9 - 0.1 * k - 0.01 * place + np.roll(SPREAD, k))
        for place, dataset in enumerate("def")
        for k, method in enumerate("ABC")
    }
    return shown(cells, title="Title <b>")


class TestCharts:
    def test_every_chart_of_the_list_can_be_drawn(self, run):
        assert "critical-difference" in run.charts
        assert len(run.charts) == len(set(run.charts))
        for name in run.charts:
            content = run.chart(name).to_dict()
            assert content["title"]["text"]
            assert content["datasets"] or content["data"]

    def test_a_chart_has_the_data_of_the_run(self, run):
        found = str(run.chart("critical-difference").to_dict()["datasets"])
        assert all(f"'{method}'" in found for method in "ABC")

    def test_a_chart_is_written_as_a_file(self, run, tmp_path):
        run.chart(run.charts[0]).save(str(tmp_path / "chart.svg"))
        assert "<svg" in (tmp_path / "chart.svg").read_text(encoding="utf-8")

    def test_an_unknown_name_is_answered_with_the_names(self, run):
        with pytest.raises(UnknownNameError, match="unknown chart 'critical' of this run: did you mean 'critical-diff"):
            run.chart("critical")

    def test_what_the_data_do_not_allow_is_no_chart(self, shown):
        run = shown({("d", "A"): 0.9})
        assert "critical-difference" not in run.charts
        with pytest.raises(UnknownNameError):
            run.chart("critical-difference")


class TestNotebook:
    def test_a_run_shows_scores_methods_and_the_answer(self, run):
        text = run._repr_html_()
        assert "<strong>Title &lt;b&gt;</strong>" in text
        assert text.count("<table>") == 2
        assert "<strong>90.0 ± 1.6</strong>" in text
        assert re.search(r"<p><strong>On these 3 datasets, A .*?\.</strong></p>", text)
        assert "Page:" not in text
        assert not re.search("<(script|style|link|img)", text)

    def test_many_methods_stay_in_columns(self, shown):
        run = shown({("d", f"a method with a long name {m}"): [0.5, 0.6] for m in range(40)}, folds=2)
        assert run._repr_html_().count('<th scope="col">a method with a long name') == 40

    def test_a_run_without_trials_is_shown(self, shown):
        text = shown({}, left_out=[("gone", "no <network>")])._repr_html_()
        assert "Left out: gone: no &lt;network&gt;" in text
