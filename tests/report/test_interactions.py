"""True interactions in a report: one table, weights or p-values, and what they mean."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from mfbench.report.export import to_json, to_markdown
from mfbench.report.interactions import interaction_notes, interaction_tables
from mfbench.report.terminal import show
from mfbench.trials import Interactions, TrialResult


def told(value, p_value=None, rank=1):
    p_values = None if p_value is None else np.array([p_value])
    found = Interactions(np.array([[0, 1]]), np.array([value]), np.array([rank]), p_values, 2.0, 10)
    return TrialResult(key="", scores={"accuracy": 0.5}, interactions=found)


@pytest.fixture
def run(write_run):
    return write_run(
        {
            ("d", "W"): [told(1.0), told(0.5, rank=2)],
            ("d", "P"): [told(3.0, 3e-11), told(3.0, 1e-10)],
            ("d", "K"): 0.5,
            ("e", "W"): [told(-1.0), told(-1.0)],
            ("e", "P"): [0.5, 0.5],
            ("e", "K"): 0.5,
        },
        folds=2,
        interactions=((0, 1),),
    )


def test_datasets_by_methods_that_tell_of_pairs(run):
    (table,) = interaction_tables(run)
    assert table.columns == ["dataset", "pairs", "W", "P"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["d", "1 of 10", "0.38 (1.5)", "p 7e-11 (1)"],
        ["e", "1 of 10", "0.50 (1)", "–"],
    ]


def test_every_form_has_it(run):
    console = Console(file=io.StringIO(), width=80)
    show(run, console)
    for text in (console.file.getvalue(), to_markdown(run)):
        assert "0.38 (1.5)" in text
        assert "Frobenius norm" in text
    assert [row["method"] for row in json.loads(to_json(run))["true_interactions"]] == ["W", "P", "W"]


def test_without_truth_or_without_words_nothing_is_said(write_run, small_run):
    for run in (small_run, write_run({("d", "W"): [told(1.0), told(1.0)]}, folds=2)):
        assert interaction_tables(run) == [] and interaction_notes(run) == []


def test_a_p_value_that_separation_spoils_is_explained(write_run):
    def notes_of(p_value, rank):
        cells = {("d", "P"): [told(3.0, p_value, rank=rank)] * 2}
        return " ".join(interaction_notes(write_run(cells, folds=2, interactions=((0, 1),))))

    assert "separates the classes" in notes_of(0.999, 1)
    assert "separates the classes" not in notes_of(0.999, 9)
    assert "separates the classes" not in notes_of(1e-9, 1)
