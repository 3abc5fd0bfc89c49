"""Means over rounds, their intervals, and the paired comparison: by hand, against scipy, and by coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mfbench.model.evaluation import Score
from mfbench.stats.detection import compare_rounds, detection_frame, mean_interval
from mfbench_protocols.plugin import DETECTION_METRICS


def test_interval_is_students():
    values = [0.1, 0.4, 0.3, 0.6]
    found = mean_interval(values)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert (found.mean, found.low, found.high) == (pytest.approx(0.35), pytest.approx(low), pytest.approx(high))
    assert found.sd == pytest.approx(np.std(values, ddof=1))


def test_interval_ends_at_0_and_1():
    assert mean_interval([0.0, 0.1]).low == 0
    assert mean_interval([1.0, 0.9]).high == 1


def test_values_that_are_not_defined_are_left_out():
    found = mean_interval([np.nan, 0.5, 0.5])
    assert (found.mean, found.low, found.high, found.rounds) == (0.5, 0.5, 0.5, 2)
    assert np.isnan(mean_interval([np.nan]).mean)
    assert mean_interval([0.3]).mean == 0.3
    assert np.isnan(mean_interval([0.3]).low)


def test_interval_covers_the_mean_of_correlated_features():
    # Within a round features are found together: the interval must come from rounds, not from features.
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        rounds = np.clip(rng.beta(2, 2, 20) + rng.normal(0, 0.02, 20), 0, 1)
        found = mean_interval(rounds)
        covered.append(found.low <= 0.5 <= found.high)
    assert 0.92 < np.mean(covered) < 0.98


def frame(cells):
    """Trials from {(dataset, method): [(detection, selected) or None, …]}."""
    rows = []
    for (dataset, method), rounds in cells.items():
        for number, value in enumerate(rounds):
            row = {"dataset": dataset, "method": method, "repeat": number, "status": "ok", "selected": None}
            if value is None:
                row["status"] = "error"
            else:
                row |= {"detection": value[0], "false_alarm": 1 - value[0], "selected": np.array(value[1])}
            rows.append(row)
    return pd.DataFrame(rows).reindex(
        columns=["dataset", "method", "repeat", "status", "selected", *DETECTION_METRICS], fill_value=np.nan
    )


def test_frame():
    trials = frame({("d", "A"): [(0.5, [0, 1]), (1.0, [0, 1]), None], ("d", "B"): [(0, []), (0, []), (0, [])]})
    found = detection_frame(trials, {"d": 4}, DETECTION_METRICS).set_index(["method", "figure"])
    assert found.loc["A", "detection"]["mean"].item() == 0.75
    assert found.loc["A", "detection"][["rounds", "planned"]].tolist() == [2, 3]
    assert found.loc["A", "stability"]["mean"] == pytest.approx(1)
    assert np.isnan(found.loc["B", "stability"]["mean"])
    assert np.isnan(found.loc["A", "pair_detection"]["mean"])


def test_paired_comparison():
    one, other = [0.5, 0.6, 0.9, 0.8, 0.7], [0.4, 0.2, 0.3, 0.6, 0.6]
    trials = frame({("d", "A"): [(v, [0]) for v in one], ("d", "B"): [(v, [0]) for v in other]})
    found = compare_rounds(trials, "A", DETECTION_METRICS).set_index("figure")
    assert found.loc["detection", "p_value"] == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert found.loc["detection", "p_wilcoxon"] == pytest.approx(stats.wilcoxon(np.subtract(one, other)).pvalue)
    assert found.loc["detection", "difference"] == pytest.approx(0.28)
    assert found.loc["detection", "detectable"] > 0 and found.loc["detection", "reason"] == ""
    back = compare_rounds(trials, "B", DETECTION_METRICS).set_index("figure")
    assert back.loc["detection", "difference"] == pytest.approx(-0.28)


def test_verdict_knows_the_direction():
    rounds = np.linspace(0.4, 0.6, 8)
    trials = frame({("d", "A"): [(1.1 * v + 0.3, [0]) for v in rounds], ("d", "B"): [(v, [0]) for v in rounds]})
    found = compare_rounds(trials, "A", DETECTION_METRICS).set_index("figure")
    assert found["verdict"].to_dict() == {"detection": "win", "false_alarm": "win"}
    assert found.loc["false_alarm", "difference"] == pytest.approx(-0.35)


def test_without_spread_between_rounds_there_is_no_verdict():
    trials = frame({("d", "A"): [(1.0, [0])] * 8, ("d", "B"): [(0.5, [0])] * 8})
    found = compare_rounds(trials, "A", DETECTION_METRICS).set_index("figure").loc["detection"]
    assert (found["verdict"], found["reason"]) == ("no verdict", "all differences are equal")
    assert np.isnan(found["p_value"]) and found["p_wilcoxon"] < 0.05


def test_rounds_are_paired_by_number():
    trials = frame({("d", "A"): [None, (0.5, [0]), (0.7, [0])], ("d", "B"): [(0.9, [0]), (0.4, [0]), (0.6, [0])]})
    found = compare_rounds(trials, "A", {"detection": Score()})
    assert found["difference"].tolist() == [pytest.approx(0.1)]
    assert found["rounds"].tolist() == [2]
    assert not len(compare_rounds(trials[trials["repeat"] < 2], "A", {"detection": Score()}))
