"""Cells without a score: dropped, ranked last, or filled with a constant guess that is scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss
from toy_metrics import METRICS

from mfbench.host.registry import load_registry
from mfbench.stats.across_datasets import complete, dummy_score
from mfbench.suite.tasks import task_named

HOLE = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.7, np.nan, 0.6], "C": [0.8, 0.6, 0.9]}, index=list("def"))


def test_dropped():
    found = complete(HOLE, "drop-dataset")
    assert found.dropped == ["e"]
    assert list(found.scores.index) == list(found.ranks.index) == ["d", "f"]
    assert found.filled == 0


def test_last_rank_and_worst_score():
    found = complete(HOLE, "worst-rank")
    assert found.ranks.loc["e"].tolist() == [1.0, 3.0, 2.0]
    assert found.scores.loc["e"].tolist() == [0.8, 0.6, 0.6]
    assert (found.filled, found.dropped, found.absent) == (1, [], [])


def test_last_rank_where_small_is_good():
    found = complete(HOLE, "worst-rank", greater_is_better=False)
    assert found.ranks.loc["e"].tolist() == [2.0, 3.0, 1.0]
    assert found.scores.loc["e", "B"] == 0.8


def test_a_constant_guess():
    found = complete(HOLE, "impute-dummy", dummies={"d": 0.1, "e": 0.7, "f": 0.1})
    assert found.scores.loc["e", "B"] == 0.7
    assert found.ranks.loc["e"].tolist() == [1.0, 2.0, 3.0]
    assert found.filled == 1


@pytest.mark.parametrize("policy", ["worst-rank", "impute-dummy"])
def test_what_has_not_run_is_no_failure(policy):
    ended = HOLE.notna()
    found = complete(HOLE, policy, ended=ended, dummies=dict.fromkeys("def", 0.5))
    assert found.dropped == ["e"]
    assert found.filled == 0


def test_a_method_without_any_score():
    table = HOLE.assign(B=np.nan)
    assert complete(table, "drop-dataset").absent == ["B"]
    assert list(complete(table, "drop-dataset").scores.columns) == ["A", "C"]
    assert complete(table, "worst-rank").ranks["B"].tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize("policy", ["drop-dataset", "worst-rank", "impute-dummy"])
def test_a_dataset_without_any_score_is_dropped(policy):
    table = HOLE.copy()
    table.loc["e"] = np.nan
    assert complete(table, policy, dummies=dict.fromkeys("def", 0.5)).dropped == ["e"]


def test_the_guess_is_scikit_learns_dummy():
    task = task_named("classification", load_registry())
    y = np.random.default_rng(0).choice([0, 0, 1, 2], 60)
    dummy = DummyClassifier(strategy="prior").fit(np.zeros((60, 1)), y)
    predicted, shares = dummy.predict(np.zeros((60, 1))), dummy.predict_proba(np.zeros((60, 1)))
    assert dummy_score(task, y, METRICS["accuracy"]) == pytest.approx(np.mean(predicted == y))
    assert dummy_score(task, y, METRICS["balanced_accuracy"]) == pytest.approx(balanced_accuracy_score(y, predicted))
    assert dummy_score(task, y, METRICS["log_loss"]) == pytest.approx(log_loss(y, shares))
    assert dummy_score(task, y, METRICS["roc_auc"]) == 0.5
