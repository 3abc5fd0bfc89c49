"""True interactions in a report: one table, weights or p-values, and what they mean."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from mfbench.report.contents import report_of
from mfbench.report.render.json import to_json
from mfbench.report.render.markdown import to_markdown
from mfbench.report.render.terminal import show
from mfbench.report.sections.interactions import interactions
from mfbench.trials import Interactions, TrialResult


def pair(value, p_value=None, rank=1):
    p_values = None if p_value is None else np.array([p_value])
    stored = Interactions(np.array([[0, 1]]), np.array([value]), np.array([rank]), p_values, 2.0, 10)
    return TrialResult(key="", scores={"accuracy": 0.5}, interactions=stored)


@pytest.fixture
def run(write_run):
    return write_run(
        {
            ("d", "W"): [pair(1.0), pair(0.5, rank=2)],
            ("d", "P"): [pair(3.0, 3e-11), pair(3.0, 1e-10)],
            ("d", "K"): 0.5,
            ("e", "W"): [pair(-1.0), pair(-1.0)],
            ("e", "P"): [0.5, 0.5],
            ("e", "K"): 0.5,
        },
        folds=2,
        interactions=((0, 1),),
    )


def test_datasets_by_methods_that_weight_pairs(run):
    (table,) = interactions(run).tables
    assert table.columns == ["dataset", "pairs", "W", "P"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["d", "1 of 10", "0.38 (1.5)", "p 7e-11 (1)"],
        ["e", "1 of 10", "0.50 (1)", "–"],
    ]


def test_every_form_has_it(run):
    console = Console(file=io.StringIO(), width=80)
    show(report_of(run), console)
    for text in (console.file.getvalue(), to_markdown(report_of(run))):
        assert "0.38 (1.5)" in text
        assert "Frobenius norm" in " ".join(text.split())
    assert [row["method"] for row in json.loads(to_json(report_of(run, everything=True)))["true_interactions"]] == [
        "W",
        "P",
        "W",
    ]


def test_without_truth_or_without_weights_there_is_no_section(write_run, small_run):
    for run in (small_run, write_run({("d", "W"): [pair(1.0), pair(1.0)]}, folds=2)):
        assert not interactions(run).has_content


def test_a_p_value_that_separation_spoils_is_explained(write_run):
    def notes_of(p_value, rank):
        cells = {("d", "P"): [pair(3.0, p_value, rank=rank)] * 2}
        return " ".join(interactions(write_run(cells, folds=2, interactions=((0, 1),))).notes)

    assert "separates the classes" in notes_of(0.999, 1)
    assert "separates the classes" not in notes_of(0.999, 9)
    assert "separates the classes" not in notes_of(1e-9, 1)
