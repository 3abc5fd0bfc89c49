"""Companion scores: only next to accuracy, only on datasets with a large class, never another kind of accuracy."""

import pandas as pd
import pytest
from toy_metrics import SCORES

from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.summary import LARGE, companion_scores

SETTINGS = ComparisonSettings("accuracy", SCORES, "A", "s-test", 0.05, 1 / 9)
TRIALS = pd.DataFrame(
    [
        {"dataset": dataset, "method": method, "repeat": 0, "fold": fold, "status": "ok", "accuracy": 0.9,
         "one_vs_rest_accuracy": 0.9, "mcc": mcc + fold / 100}
        for dataset in ("skewed", "even")
        for method, mcc in (("A", 0.5), ("B", 0.1))
        for fold in range(3)
    ]
)  # fmt: skip
METRICS = ["accuracy", "one_vs_rest_accuracy", "mcc"]
SHARES = {"skewed": 0.9, "even": 0.5}


def test_other_scores_on_datasets_with_a_large_class():
    table = companion_scores(TRIALS, SETTINGS, METRICS, SHARES)
    assert set(table["metric"]) == {"mcc"}
    assert set(table["dataset"]) == {"skewed"}
    assert table.set_index("method")["mean"].to_dict() == pytest.approx({"A": 0.51, "B": 0.11})
    assert table["largest_class"].tolist() == [0.9, 0.9]


def test_marks_are_by_the_corrected_test_whatever_the_report_uses():
    table = companion_scores(TRIALS, SETTINGS, METRICS, SHARES).set_index("method")
    assert table["best"].to_dict() == {"A": True, "B": False}
    assert not table.loc["B", "not_worse"]


@pytest.mark.parametrize(
    ("metric", "shares"), [("mcc", SHARES), ("accuracy", {"skewed": LARGE, "even": 0.5})], ids=["metric", "share"]
)
def test_otherwise_there_are_none(metric, shares):
    table = companion_scores(TRIALS, SETTINGS.replace(metric=metric), METRICS, shares)
    assert len(table) == 0
    assert "largest_class" in table.columns
