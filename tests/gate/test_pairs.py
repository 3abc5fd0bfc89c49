"""Trials of two sides are paired by dataset, method, repeat and fold."""

import numpy as np
import pandas as pd

from mfbench_gate.scores import COLUMNS, score_pairs


def side(predictions, accuracy, status="ok", fold=0, method="m"):
    return pd.DataFrame(
        [{"dataset": "d", "method": method, "repeat": 0, "fold": fold, "status": status, "predictions": predictions,
          "accuracy": accuracy, "mcc": 0.0}]
    )  # fmt: skip


def test_only_trials_that_succeeded_on_both_sides_are_paired():
    a = np.array([0, 1, 1])
    base = pd.concat([side(a, 0.5, fold=0), side(a, 0.6, fold=1), side(None, np.nan, "error", fold=2)])
    head = pd.concat([side(a, 0.6, fold=1), side(a, 0.5, fold=2), side(a, 0.5, method="new")])
    pairs = score_pairs(base, head, ["accuracy", "mcc"])
    assert list(pairs.columns) == COLUMNS
    assert pairs[["fold", "measure", "n_changed"]].values.tolist() == [[1, "accuracy", 0.0], [1, "mcc", 0.0]]


def test_changed_rows():
    for before, after, counts in [
        (np.array([0, 1]), np.array([1, 1]), [2.0, 1.0]),
        (np.array([0, 1]), np.array([0, 1]), [2.0, 0.0]),
        (None, np.array([0, 1]), [None, None]),
        (np.array([0, 1]), np.array([0, 1, 1]), [None, None]),
    ]:
        pairs = score_pairs(side(before, 0.5), side(after, 0.5), ["accuracy"])
        assert [None if np.isnan(value) else value for value in pairs[["n_rows", "n_changed"]].iloc[0]] == counts


def test_nothing_in_common():
    pairs = score_pairs(side(None, 1.0, method="a"), side(None, 1.0, method="b"), ["accuracy"])
    assert pairs.empty
    assert list(pairs.columns) == COLUMNS
    assert score_pairs(side(None, 1.0), side(None, 1.0), []).empty
