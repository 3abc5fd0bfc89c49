"""Scores in units of the target: across datasets, each counts in standard deviations of its own target."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mfbench.model.evaluation import Score
from mfbench.report.cells import precise_text, size_text, with_unit
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.paired import differences_of
from mfbench.stats.summary import compare_with_reference, complete_table, means_of, results_by_cell

LOSS = Score(greater_is_better=False, percent=False, in_units=True)
SPREADS = {"cents": 1000.0, "euros": 10.0, "atoms": 1e-9}


@pytest.fixture
def settings():
    spreads = tuple(SPREADS.items())
    return ComparisonSettings("rmse", {"rmse": LOSS}, "A", "corrected-t", 0.05, 1 / 9, spreads=spreads)


@pytest.fixture
def trials():
    relative = {"A": [0.50, 0.52, 0.51, 0.55, 0.50], "B": [0.51, 0.52, 0.53, 0.55, 0.52]}
    rows = [
        {"dataset": dataset, "method": method, "repeat": 0, "fold": fold, "status": "ok", "rmse": value * spread}
        for dataset, spread in SPREADS.items()
        for method, values in relative.items()
        for fold, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_datasets_count_alike_whatever_their_units(settings, trials):
    completed = complete_table(means_of(results_by_cell(trials, "rmse")), trials, settings)
    np.testing.assert_allclose(completed.scores.to_numpy(), [[0.516, 0.526]] * 3)
    assert completed.ranks["A"].eq(1.0).all()


def test_verdicts_and_probabilities_do_not_depend_on_the_unit(settings, trials):
    found = compare_with_reference(trials, settings).set_index("dataset")
    figures = found[["p_value", "better", "equal", "worse"]]
    np.testing.assert_allclose(figures.to_numpy(), [figures.loc["euros"].to_numpy()] * 3, rtol=1e-6)
    np.testing.assert_allclose(found["difference"] / pd.Series(SPREADS), -0.01)


def test_the_margin_is_the_metrics_unless_a_suite_sets_one(settings):
    own = replace(settings, scores={"rmse": replace(LOSS, margin=0.2)})
    assert (settings.margin, own.margin, own.on("cents").margin) == (0.01, 0.2, 200.0)
    assert replace(own, rope=0.0).margin == 0.0
    assert own.on("classes").margin == 0.2  # no numbers, no unit


def test_equal_differences_are_equal_at_any_scale():
    for unit in (1e-13, 1e-3, 1.0, 1e9):
        first, second = np.array([0.3, 0.4]) * unit, np.array([0.2, 0.3]) * unit
        differences = differences_of(first, second)
        assert differences[0] == differences[1] > 0


def test_figures_are_readable_in_any_unit():
    assert [size_text(value, False) for value in (0.5124, 48213.4, 12.3456, 3e-7)] == [
        "0.512",
        "48,213",
        "12.35",
        "3e-07",
    ]
    assert (size_text(-1234.5, False, "+"), precise_text(0.01234, False)) == ("-1,234", "+0.0123")
    assert [size_text(sd, False, like=mean) for mean, sd in ((54.64, 2.4161), (183.7, 13.72), (0.2, 12.5), (0, 1))] == [
        "2.42", "13.7", "12.500", "1.000",
    ]  # fmt: skip
    assert with_unit("rmse", LOSS) == "Rmse, in units of the target"
