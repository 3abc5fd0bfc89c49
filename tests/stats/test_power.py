"""What a run can see and what it needs: against the tests themselves, by simulation, and at the limits."""

import numpy as np
import pandas as pd
import pytest
from scipy import special
from toy_metrics import SCORES

from mfbench.errors import UsageError
from mfbench.stats.across_datasets import Overall, complete
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.paired import corrected_t_test
from mfbench.stats.power import RepeatedTest, power_analysis

SETTINGS = ComparisonSettings("accuracy", SCORES, "A", "corrected-t", 0.05, 1 / 4)


def frame(cells, folds=5):
    rows = [
        {"dataset": d, "method": m, "repeat": i // folds, "fold": i % folds, "status": "ok", "accuracy": score}
        for (d, m), scores in cells.items()
        for i, score in enumerate(scores)
    ]
    return pd.DataFrame(rows)


def analyse(cells, difference=0.01, power=0.8, methods=("B",), settings=SETTINGS, folds=5, decisions=None):
    trials = frame(cells, folds)
    means = trials.groupby(["dataset", "method"], sort=False)["accuracy"].mean().unstack()
    overall = Overall(complete(means, "drop-dataset"), True, settings.reference, settings.alpha)
    rows = dict.fromkeys(trials["dataset"], 200)
    return power_analysis(trials, overall, settings, methods, rows, difference, power, decisions)


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    return {(f"d{i}", m): list(rng.normal(0.8, 0.02, 10)) for i in range(8) for m in "ABC"}


def test_what_is_detectable_now_is_what_the_test_says(cells):
    found = analyse(cells).on_datasets
    assert found["dataset"].tolist() == [f"d{i}" for i in range(8)]
    for row in found.to_dict("records"):
        test = corrected_t_test(cells[row["dataset"], "A"], cells[row["dataset"], "B"], 1 / 4)
        assert row["detectable"] == pytest.approx(test.detectable)
        assert row["difference"] == pytest.approx(test.difference)
        assert (row["rows"], row["folds"], row["repeats"], row["reason"]) == (200, 5, 2, "")
        assert row["rows_needed"] == int(np.ceil(200 * (test.detectable / 0.01) ** 2))


@pytest.mark.parametrize("difference", [0.05, 0.035, 0.031])
def test_the_repeats_needed_suffice_and_one_fewer_does_not(difference):
    plan = RepeatedTest(spread=0.02, folds=5, ratio=1 / 4, alpha=0.05, power=0.8)
    repeats = plan.repeats_needed(difference)
    assert plan.detectable(repeats) <= difference
    assert repeats == 1 or plan.detectable(repeats - 1) > difference


def test_no_number_of_repeats_passes_the_limit_of_shared_training_rows():
    plan = RepeatedTest(spread=0.02, folds=10, ratio=1 / 9, alpha=0.05, power=0.8)
    assert plan.unlimited == pytest.approx(2.8016 * 0.02 / 3, rel=1e-4)
    assert plan.detectable(100_000) == pytest.approx(plan.unlimited, rel=1e-3)
    assert plan.detectable(1000) > plan.unlimited
    assert plan.repeats_needed(plan.unlimited) is None
    assert plan.repeats_needed(1.01 * plan.unlimited) is not None
    assert RepeatedTest(0.02, 1, 0.0, 0.05, 0.8).repeats_needed(0.001) > 1000, "independent rounds have no limit"


@pytest.mark.parametrize("repeats", [1, 4])
def test_the_planned_number_of_repeats_has_the_power(repeats):
    plan = RepeatedTest(spread=0.03, folds=5, ratio=1 / 4, alpha=0.05, power=0.8)
    count, rho = 5 * repeats, 1 / 5
    rng = np.random.default_rng(repeats)
    noise = np.sqrt(1 - rho) * rng.normal(size=(4000, count)) + np.sqrt(rho) * rng.normal(size=(4000, 1))
    differences = plan.detectable(repeats) + 0.03 / np.sqrt(1 - rho) * noise
    t = differences.mean(axis=1) / np.sqrt((1 / count + 1 / 4) * differences.var(axis=1, ddof=1))
    found = (special.stdtr(count - 1, -t) < 0.025).mean()
    assert found == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 4000))


def test_across_datasets_the_level_is_that_of_holms_strictest_step(cells):
    found = analyse(cells, difference=0.02)
    assert found.n_comparisons == 2
    (row,) = found.across.to_dict("records")
    assert (row["method"], row["datasets"]) == ("B", 8)
    assert isinstance(row["datasets_needed"], int)
    assert row["sd"] == pytest.approx(
        np.std([np.mean(cells[f"d{i}", "A"]) - np.mean(cells[f"d{i}", "B"]) for i in range(8)], ddof=1)
    )
    assert (row["detectable"] <= 0.02) == (row["datasets_needed"] <= 8)


def test_a_single_test_set_has_mcnemars_test():
    right = {"A": np.arange(100) < 80, "B": np.arange(100) >= 25}
    found = analyse(
        {("d", m): [right[m].mean()] for m in "AB"}, decisions=lambda dataset, method: [right[method]], folds=1
    )
    (row,) = found.on_datasets.to_dict("records")
    assert 0.05 < row["detectable"] < 0.3 and np.isnan(row["unlimited"])
    assert row["repeats_needed"] is None and row["rows_needed"] > 200


def test_comparisons_without_a_spread_give_their_reason(cells):
    cells["d0", "B"] = cells["d0", "A"]
    found = analyse(cells).on_datasets.iloc[0]
    assert found["reason"] == "identical scores" and np.isnan(found["detectable"])
    assert found["repeats_needed"] is None and found["rows_needed"] is None


def test_numbers_out_of_range(cells):
    for changes, part in [
        ({"difference": 0}, "difference is 0; it must be a number above 0"),
        ({"difference": -1.0}, "above 0"),
        ({"difference": float("nan")}, "above 0"),
        ({"power": 0.05}, "must lie between the level, 0.05, and 1"),
        ({"power": 1.0}, "between the level"),
    ]:
        with pytest.raises(UsageError, match=part):
            analyse(cells, **changes)


def test_too_few_folds_and_too_few_datasets_leave_nothing_to_plan_from():
    with pytest.raises(UsageError, match=r"no comparison with A has a spread \(fewer than 5 pairs\)"):
        analyse({("d", m): [0.5, 0.6, 0.7] for m in "AB"}, folds=3)
    with pytest.raises(UsageError, match="no dataset on which A and another method have all their scores"):
        analyse({("d", "A"): [0.5] * 5})
