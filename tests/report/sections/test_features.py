"""The features that methods use: how many, and how much the folds agree, shown on request."""

import numpy as np
import pytest
from chart_data import data_of

from mfbench.model.trials import TrialResult
from mfbench.report.charts.drawing import specification
from mfbench.report.contents import report_of
from mfbench.report.sections.features import FEATURES, features
from mfbench.stats.selection import nogueira_stability, selected_features


def chose(*features):
    return TrialResult(
        key="", scores={"accuracy": 0.5}, n_selected=len(features), selected=np.array(features, dtype=np.int64)
    )


def test_median_range_and_stability(failure):
    sets = [(0,), (0, 1), (0, 2, 3)]
    rows = [
        {"dataset": "d", "method": "A", "status": "ok", "n_selected": len(chosen), "selected": np.array(chosen)}
        for chosen in sets
    ]
    rows.append({"dataset": "d", "method": "A", "status": "error", "n_selected": 0, "selected": None})
    (row,) = selected_features(rows, {"d": 5})[0].to_dict("records")
    assert (row["median"], row["least"], row["most"], row["folds"]) == (2, 1, 3, 3)
    table = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0]]
    assert row["stability"] == pytest.approx(nogueira_stability(table).value)


def test_without_the_sets_there_is_a_number_alone():
    rows = [{"dataset": "d", "method": "A", "status": "ok", "n_selected": 3, "selected": None}] * 2
    row = selected_features(rows, {"d": 3})[0].iloc[0]
    assert row["median"] == 3 and np.isnan(row["stability"])


def test_the_table_has_methods_that_leave_features_out(write_run):
    same, moving = [chose(0), chose(0)], [chose(0), chose(1)]
    run = write_run({("d", "S"): same, ("d", "M"): moving, ("d", "ALL"): [chose(0, 1)] * 2}, folds=2)
    (table,) = features(run).tables
    assert table.columns == ["dataset", "features", "S", "M"]
    assert [cell.text for cell in table.rows[0]] == ["d", "2", "1 (1.00)", "1 (-1.00)"]


def test_each_dataset_has_a_chart_of_the_methods_that_leave_features_out_there(write_run):
    same, moving, everything = [chose(0), chose(0)], [chose(0), chose(1)], [chose(0, 1)] * 2
    cells = {("d", "S"): same, ("d", "M"): moving, ("e", "S"): moving, ("e", "M"): everything}
    first, second = features(write_run(cells, folds=2)).charts
    assert (first.name, second.name) == ("selection-01-d", "selection-02-e")
    columns = ["method", "label", "feature", "share"]
    assert data_of(specification(first))[columns].values.tolist() == [
        ["S", "S (1.00)", "u", 1.0],
        ["S", "S (1.00)", "v", 0.0],
        ["M", "M (-1.00)", "u", 0.5],
        ["M", "M (-1.00)", "v", 0.5],
    ]
    assert set(data_of(specification(second))["method"]) == {"S"}


def test_failed_trials_are_no_folds_of_the_chart(write_run, failure):
    run = write_run({("d", "A"): [chose(0), chose(0), failure()]}, folds=3)
    (chart,) = features(run).charts
    assert chart.alt() == "d, features selected most often: A: u 100%, v 0%."


def test_numbers_of_features_without_the_sets_have_no_chart(write_run):
    counted = TrialResult(key="", scores={"accuracy": 0.5}, n_selected=1)
    section = features(write_run({("d", "A"): [counted, chose()]}, folds=2))
    assert section.tables
    unknown = [TrialResult(key="", scores={"accuracy": 0.5}, n_selected=1) for _ in range(2)]
    assert not features(write_run({("d", "A"): unknown}, folds=2)).charts


def test_it_comes_on_request(write_run):
    run = write_run({("d", m): [chose(0), chose(1)] for m in "AB"}, folds=2)
    for statistics in (False, True):
        report = report_of(run, statistics=statistics)
        sections = {section.title: section for section in report.sections}
        assert (FEATURES in sections) == statistics
    assert "Nogueira's" in " ".join(sections[FEATURES].notes)


def test_if_no_method_leaves_a_feature_out_there_is_no_section(write_run):
    assert not features(write_run({("d", "A"): [chose(0, 1)] * 2}, folds=2)).has_content
