"""JSON has the data of every section; what does not exist is null."""

import json
import math

import pytest

from mfbench.report.contents import report_of
from mfbench.report.render.json import to_json
from mfbench.sections import Report, Section


def json_of(run):
    return to_json(report_of(run, everything=True))


def read_json(text):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


class TestJson:
    def test_everything_is_there_and_missing_values_are_null(self, write_run, failure, small_run):
        run = write_run(
            {
                ("d", "A"): [failure()] * 5,
                ("d", "B"): [None] * 5,
                ("d", "C"): [0.5, None, None, None, None],
                ("d", "D"): 0.5,
            }
        )
        content = read_json(json_of(run))
        by_method = {row["method"]: row for row in content["scores"]}
        assert by_method["A"]["mean"] is None
        assert by_method["C"]["mean"] == 0.5
        assert by_method["C"]["sd"] is None
        assert by_method["C"]["complete"] is False
        assert {row["method"]: row["rank"] for row in content["summary"]}["A"] is None
        assert content["not_run"] == 9
        assert len(content["failures"]) == 5

    def test_numbers_are_those_of_the_frames(self, small_run):
        content = read_json(json_of(small_run))
        assert (content["title"], content["metric"], content["reference"]) == ("Own suite", "accuracy", "B")
        assert (content["test"], content["alpha"]) == ("corrected-t", 0.05)
        assert [row["mean"] for row in content["scores"]] == small_run.scores["mean"].tolist()
        assert [row["verdict"] for row in content["wins_ties_losses"]] == ["tie", "win", "loss"]
        assert content["left_out"] == {"gone": "no network"}
        assert content["datasets"][0]["classes"] == {"no": 1, "yes": 3}
        assert content["methods"] == small_run.methods
        assert content["failures"][0]["error_message"] == "no | way\nat all"

    def test_letters_are_letters(self, write_run):
        assert "Größe" in json_of(write_run({("Größe", "A"): 0.5}))

    @pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
    def test_infinite_scores_are_null(self, write_run):
        run = write_run({("d", "A"): [math.inf, 0.5, 0.5, 0.5, 0.5]}, metrics=["log_loss"])
        assert read_json(json_of(run))["scores"][0]["mean"] is None

    def test_no_trials(self, write_run):
        assert read_json(json_of(write_run({}, left_out=[("gone", "no network")])))["scores"] == []


def test_data_of_a_plugin_are_under_its_name():
    sections = [Section("A", data={"a": lambda: 1}), Section("B", data={"a": lambda: [2]}, plugin="own")]
    assert read_json(to_json(Report("t", "s", sections))) == {"a": 1, "plugin_data": {"own": {"a": [2]}}}
