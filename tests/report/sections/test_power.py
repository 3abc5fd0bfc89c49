"""The plan of a run as a report: every pair in the table, and in JSON the same with whole numbers or null."""

import io
import json

import pytest
from rich.console import Console

from mfbench.errors import UnknownNameError, UsageError
from mfbench.report.present import choose, present_power
from mfbench.report.sections.across_datasets import power_report


def present(run, difference=1.0, reference=None, metric=None, **options):
    console = Console(file=io.StringIO(), width=160)
    text = present_power(choose(run, reference, metric), difference, console, **{"power": 0.8, **options})
    return console.file.getvalue() + text


def test_every_pair_says_what_it_sees_and_needs(small_run):
    plan = small_run.power(0.01)
    report = power_report(small_run, plan)
    assert "1 percentage point (accuracy) from B with a probability of 80 %" in report.setting
    one, across = report.sections
    assert [row[0].text for row in one.tables[0].rows] == ["A", "A", "C"], "C is incomplete on wine"
    assert across.notes == ["No spread between datasets: it needs two of them."], "wine is left out"
    text = " ".join(one.notes)
    assert "n_test/n_train of the variance remains" in text and "falls as 1/rows" in text


def test_datasets_needed(write_run):
    means = {("d", "A"): 0.9, ("d", "B"): 0.8, ("e", "A"): 0.7, ("e", "B"): 0.65, ("f", "A"): 0.6, ("f", "B"): 0.62}
    run = write_run(means)
    table = power_report(run, run.power(0.02)).sections[1].tables[0]
    assert [cell.text for cell in table.rows[0]][:3] == ["B", "3", "+4.33"]
    assert int(table.rows[0][-1].text) == run.power(0.02).across["datasets_needed"].iloc[0] > 50


def test_json_has_numbers_in_the_metrics_unit(small_run):
    content = json.loads(present(small_run, 2.0, as_json=True, reference="A", methods=["B"]))
    assert (content["difference"], content["reference"], content["power"]) == (0.02, "A", 0.8)
    assert {row["method"] for row in content["on_datasets"]} == {"B"}
    for row in content["on_datasets"]:
        assert row["repeats_needed"] is None or isinstance(row["repeats_needed"], int)
        assert isinstance(row["rows_needed"], int)


def test_the_terminal_names_what_no_repeats_reach(small_run):
    text = present(small_run, 0.001)
    assert "none" in text and "repeats needed" in text
    assert "Across" in text


def test_a_metric_that_is_no_share_keeps_its_unit(write_run):
    run = write_run({("d", m): mean for m, mean in (("A", 0.2), ("B", 0.4))}, metrics=["log_loss"])
    content = json.loads(present(run, 0.05, as_json=True))
    assert content["difference"] == 0.05
    assert "0.05 (log_loss)" in present(run, 0.05)


def test_refusals(small_run):
    for options, error, part in [
        ({"methods": ["Z"]}, UnknownNameError, "unknown method 'Z' of this run"),
        ({"methods": ["B"]}, UsageError, "B is the reference"),
        ({"reference": "Z"}, UnknownNameError, "unknown method 'Z'"),
        ({"metric": "acuracy"}, UnknownNameError, "did you mean 'accuracy'"),
        ({"difference": 0.0}, UsageError, "must be a number above 0"),
    ]:
        with pytest.raises(error, match=part):
            present(small_run, **options)
