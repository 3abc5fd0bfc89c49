"""The files say what the terminal says, in forms that other programs read."""

import csv
import io
import json
import math
import re

import pytest

from mfbench.report.export import regeneration_command, to_csv, to_json, to_markdown
from mfbench.report.tables import score_table, summary_table


def read_json(text):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def markdown_rows(text, heading):
    """Return the cells of the table under a heading, as a reader of Markdown splits them."""
    body = text[re.search(rf"^## {heading}", text, re.MULTILINE).end() :]
    lines = [line for line in body.split("\n\n")[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


class TestMarkdown:
    def test_tables_are_those_of_the_terminal_with_the_best_in_bold(self, small_run):
        text = to_markdown(small_run)
        for table, heading in ((score_table(small_run), "Accuracy, percent"), (summary_table(small_run), "Methods")):
            head, rule, *rows = markdown_rows(text, heading)
            assert head == table.columns
            assert rule == ["---"] + ["---:"] * (len(head) - 1)
            expected = [[f"**{c.text}**" if c.role == "best" else c.text for c in row] for row in table.rows]
            assert rows == expected
        assert text.count("**") == 2 * 2

    def test_pipes_and_line_breaks_do_not_break_a_row(self, write_run):
        run = write_run({("a|b", "x|y"): 0.5, ("a|b", "z"): 0.4}, describe={"z": "one\ntwo | three"})
        text = to_markdown(run)
        for heading, width in (("Accuracy, percent", 3), ("Methods", 9)):
            assert {len(row) for row in markdown_rows(text, heading)} == {width}
        assert r"a\|b" in text
        assert r"x\|y" in text
        assert r"one two \| three" in text

    def test_the_head_tells_how_it_was_made(self, small_run):
        text = to_markdown(small_run, "mfbench suite own")
        assert text.startswith("# Own suite\n\nMade by\n\n    mfbench suite own\n")
        assert "Profile quick: 5-fold" in text
        assert "scikit-learn 1.7" in text
        assert "Made by" not in to_markdown(small_run)

    def test_notes_are_at_the_end(self, small_run):
        text = to_markdown(small_run)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "Left out: gone: no network" in text

    def test_one_worker_is_one(self, small_run):
        assert ", 2 workers." in to_markdown(small_run)
        environment = small_run.meta.environment.model_copy(update={"jobs": 1})
        small_run.meta = small_run.meta.model_copy(update={"environment": environment})
        assert ", 1 worker." in to_markdown(small_run)

    def test_names_of_metrics_keep_their_case(self, write_run):
        text = to_markdown(write_run({("d", "A"): 0.9}, metrics=("balanced_accuracy",)))
        assert "## balanced_accuracy, percent" in text

    @pytest.mark.parametrize("metric", ["accuracy", "one_vs_rest_accuracy"])
    def test_no_trials_of_any_metric_have_no_tables(self, write_run, metric):
        assert "|" not in to_markdown(write_run({}, metrics=(metric,), left_out=[("gone", "no network")]))

    def test_no_trials_have_no_tables(self, write_run):
        text = to_markdown(write_run({}, left_out=[("gone", "no network")]))
        assert "|" not in text
        assert "Left out: gone" in text


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
        content = read_json(to_json(run))
        by_method = {row["method"]: row for row in content["scores"]}
        assert by_method["A"]["mean"] is None
        assert by_method["C"]["mean"] == 0.5
        assert by_method["C"]["sd"] is None
        assert by_method["C"]["complete"] is False
        assert {row["method"]: row["rank"] for row in content["summary"]}["A"] is None
        assert content["not_run"] == 9
        assert len(content["failures"]) == 5

    def test_numbers_are_those_of_the_frames(self, small_run):
        content = read_json(to_json(small_run))
        assert (content["title"], content["metric"], content["reference"]) == ("Own suite", "accuracy", "B")
        assert (content["test"], content["alpha"]) == ("corrected-t", 0.05)
        assert [row["mean"] for row in content["scores"]] == small_run.scores["mean"].tolist()
        assert [row["verdict"] for row in content["wins_ties_losses"]] == ["tie", "win", "loss"]
        assert content["left_out"] == {"gone": "no network"}
        assert content["datasets"][0]["classes"] == {"no": 1, "yes": 3}
        assert content["methods"] == small_run.methods
        assert content["failures"][0]["error_message"] == "no | way\nat all"

    def test_letters_are_letters(self, write_run):
        assert "Größe" in to_json(write_run({("Größe", "A"): 0.5}))

    @pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
    def test_infinite_scores_are_null(self, write_run):
        run = write_run({("d", "A"): [math.inf, 0.5, 0.5, 0.5, 0.5]}, metrics=["log_loss"])
        assert read_json(to_json(run))["scores"][0]["mean"] is None

    def test_no_trials(self, write_run):
        assert read_json(to_json(write_run({}, left_out=[("gone", "no network")])))["scores"] == []


class TestCsv:
    def test_one_line_for_each_cell_with_the_references_verdict(self, small_run):
        rows = list(csv.DictReader(io.StringIO(to_csv(small_run))))
        assert [(row["dataset"], row["method"]) for row in rows] == [(d, m) for d in ("iris", "wine") for m in "ABC"]
        assert [row["verdict"] for row in rows] == ["tie", "", "win", "loss", "", ""]
        assert float(rows[0]["mean"]) == small_run.scores["mean"].iloc[0]
        assert [row["best"] for row in rows] == ["True", "False", "False", "True", "False", "False"]

    def test_lines_end_alike_everywhere(self, small_run):
        assert "\r" not in to_csv(small_run)

    def test_no_trials_leave_the_head(self, write_run):
        assert to_csv(write_run({}, left_out=[("gone", "no network")])).startswith("dataset,method,mean")


def test_the_command_can_be_typed(write_run):
    words = ["mfbench", "suite", "my suite.toml", "--only", "wave*"]
    run = write_run({("d", "A"): 0.5}, command=words)
    assert regeneration_command(run) == "mfbench suite 'my suite.toml' --only 'wave*' && mfbench report own --md"
    run = write_run({("d", "A"): 0.5}, command=words[:3], out="my runs")
    assert regeneration_command(run) == (
        "mfbench suite 'my suite.toml' --out 'my runs' && mfbench report own --out 'my runs' --md"
    )
