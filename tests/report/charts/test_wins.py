"""Wins, ties and losses as bars: the counts of the summary, without those that are 0."""

import pandas as pd
import pytest

from mfbench.report.charts.comparison import counts, wins_chart
from mfbench.report.charts.drawing import BETTER, EQUAL, WORSE

RULES = [("papers' rule W/T/L", "published_"), ("sound W/T/L", "sound_")]
SUMMARY = pd.DataFrame(
    {
        "method": ["B", "R", "A"],
        "published_win": [3, 0, 1], "published_tie": [2, 0, 0], "published_loss": [0, 0, 5],
        "published_no_verdict": [1, 0, 0],
        "sound_win": [0, 0, 0], "sound_tie": [6, 0, 2], "sound_loss": [0, 0, 4], "sound_no_verdict": [0, 0, 0],
    }
)  # fmt: skip


def summary(methods, **changes):
    values = {"win": 1, "tie": 2, "loss": 3, "no_verdict": 0, **changes}
    return pd.DataFrame({"method": list(methods), **values})


def test_counts_are_those_of_the_summary_without_the_reference():
    cells = counts(SUMMARY, RULES, "R").groupby(["rule", "method"], sort=False)["datasets"].agg(list)
    assert cells.to_dict() == {
        ("papers' rule W/T/L", "B"): [3, 2, 0, 1],
        ("papers' rule W/T/L", "A"): [1, 0, 5, 0],
        ("sound W/T/L", "B"): [0, 6, 0, 0],
        ("sound W/T/L", "A"): [0, 2, 4, 0],
    }


def test_a_part_of_a_bar_for_each_outcome_that_occurs(rows_of):
    assert rows_of(wins_chart(SUMMARY, RULES, "R"), "rule", "method", "outcome", "datasets") == [
        ["papers' rule W/T/L", "B", "win", 3],
        ["papers' rule W/T/L", "B", "tie", 2],
        ["papers' rule W/T/L", "B", "no verdict", 1],
        ["papers' rule W/T/L", "A", "win", 1],
        ["papers' rule W/T/L", "A", "loss", 5],
        ["sound W/T/L", "B", "tie", 6],
        ["sound W/T/L", "A", "tie", 2],
        ["sound W/T/L", "A", "loss", 4],
    ]


def test_every_outcome_keeps_its_colour_whatever_is_absent(drawn):
    def scale_of(chart):
        scale = drawn(chart)["spec"]["encoding"]["color"]["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    assert scale_of(wins_chart(SUMMARY, RULES, "R")) == {
        "win": BETTER, "tie": EQUAL, "loss": WORSE, "no verdict": "#ffffff"
    }  # fmt: skip
    assert scale_of(wins_chart(summary("AR", tie=0), [("W/T/L", "")], "R")) == {"win": BETTER, "loss": WORSE}


def test_bars_are_stacked_from_wins_to_losses(rows_of):
    order = dict(rows_of(wins_chart(SUMMARY, RULES, "R"), "outcome", "order"))
    assert sorted(order, key=order.get) == ["win", "tie", "loss", "no verdict"]


def test_methods_and_rules_keep_their_order(words_of):
    methods, rules = [f"M{number}" for number in range(27)], ["z", "a"]
    words = words_of(wins_chart(summary([*methods, "R"]), [(rule, "") for rule in rules], "R"))
    assert [word for word in words if word in methods] == methods
    assert [word for word in words if word in rules] == rules


@pytest.mark.parametrize("methods", ["A", "AR"])
def test_no_common_dataset_can_be_drawn(methods, words_of):
    chart = wins_chart(summary(methods, win=0, tie=0, loss=0), [("W/T/L", "")], "R")
    assert "Wins, ties and losses of R" in words_of(chart)
    assert chart.alt() == "W/T/L of R against A 0/0/0."


def test_the_words_state_the_counts():
    assert wins_chart(SUMMARY, RULES, "R").alt() == (
        "papers' rule W/T/L of R against B 3/2/0, A 1/0/5; sound W/T/L of R against B 0/6/0, A 0/2/4."
    )


def test_names_are_plain_text(hostile, check_names):
    for reference in hostile[:2]:
        check_names(wins_chart(summary(hostile), [("W/T/L", "")], reference), hostile)
