"""True interactions in a report: one table, weights or p-values, and what they mean."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from chart_data import data_of
from rich.console import Console

from mfbench.host.registry import load_registry
from mfbench.model.trials import Interactions, TrialResult
from mfbench.report.charts.drawing import specification
from mfbench.report.contents import report_of
from mfbench.report.render.files import to_json, to_markdown
from mfbench.report.render.terminal import show
from mfbench.report.sections.features import interactions, mean_weights, pair_weights
from mfbench_datasets.noise_chart import noise_sections


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


def test_data_at_several_levels_of_noise_have_a_chart(write_run):
    cells = {(f"d(noise={noise}, k=2)", "W"): [pair(value)] * 2 for noise, value in ((0.1, 1.0), (0.3, 0.5))}
    run = write_run(cells, folds=2, interactions=((0, 1),))
    (chart,) = (chart for chart in report_of(run, load_registry()).drawable if chart.name == "interaction-noise")
    rows = data_of(specification(chart)).set_index("noise")
    assert set(rows["data"]) == {"d(k=2)"}
    assert rows["share"].to_dict() == {0.1: 0.5, 0.3: 0.25}
    shares = dict(zip(run.true_interactions["dataset"], run.true_interactions["share"], strict=True))
    assert list(shares.values()) == rows["share"].tolist()


def test_data_at_one_level_of_noise_have_none(run):
    assert not noise_sections(run)


class TestWeightsOfPairs:
    def test_each_dataset_has_a_chart_of_the_mean_weights(self, run):
        first, second = pair_weights(run).charts
        assert (first.title, second.title) == (
            "W on d: weights of pairs of features",
            "W on e: weights of pairs of features",
        )
        assert first.alt() == "Largest weights of pairs: u and v 0.750."
        assert second.alt() == "Largest weights of pairs: u and v -1.000."
        rows = data_of(specification(first))
        assert rows[rows["first"] != rows["second"]]["weight"].tolist() == [0.75]

    def test_they_are_those_of_the_reference_if_it_weighs_pairs(self, run):
        (chart,) = pair_weights(run.replace(reference="P")).charts
        assert chart.name == "weights-of-pairs-01-d-p"
        assert {chart.name for chart in pair_weights(run.replace(reference="K")).charts} == {
            "weights-of-pairs-01-d-w",
            "weights-of-pairs-02-e-w",
        }

    def test_a_fold_without_a_pair_counts_as_0(self, run):
        frame = run.interactions.query("dataset == 'd' and method == 'W'")
        other = frame.iloc[:1].assign(fold=5, first="v", second="w", value=0.3)
        weights = mean_weights(pd.concat([frame, other])).set_index(["first", "second"])["value"].to_dict()
        assert weights == {("u", "v"): pytest.approx(0.5), ("v", "w"): pytest.approx(0.1)}

    def test_without_weights_there_is_no_section(self, small_run):
        assert not pair_weights(small_run).has_content


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
