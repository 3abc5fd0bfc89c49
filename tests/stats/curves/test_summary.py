"""One row per dataset and method, and one per method: areas are the stored ones, ranks are within a classifier."""

import numpy as np
import pandas as pd
import pytest
from toy_metrics import LOSSES, SCORES

from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.curves import RANKING_COLUMNS as RANKINGS
from mfbench.stats.curves import classifier_of, curve_overview, curve_summary

SETTINGS = ComparisonSettings("accuracy", SCORES, None, "corrected-t", 0.05, 0.25)
FOLDS = 5


def trials_of(areas, status="ok"):
    """Return trials whose areas are those of `areas` for each (dataset, method); None for a failed fold."""
    rows = []
    for (dataset, method), area in areas.items():
        for fold, value in enumerate(area if isinstance(area, list) else [area] * FOLDS):
            ok = value is not None
            rows.append({"dataset": dataset, "method": method, "repeat": 0, "fold": fold,
                         "status": status if ok else "error", "area": value if ok else np.nan,
                         "area_linear": value / 2 if ok else np.nan})  # fmt: skip
    return pd.DataFrame(rows)


def summary_of(make_curves, areas, curve=None, classifiers=None, rankings=(), settings=SETTINGS):
    curve = curve or {1: [0.5] * FOLDS, 4: [0.5] * FOLDS}
    curves = make_curves(dict.fromkeys(areas, curve))
    names = dict.fromkeys([method for _, method in areas], "knn") | (classifiers or {})
    frame = pd.DataFrame(list(rankings), columns=RANKINGS)
    return curve_summary(curves, trials_of(areas), frame, names, settings)


def overview_of(summary, areas, settings=SETTINGS, **keywords):
    return curve_overview(summary, trials_of(areas), settings, **keywords).set_index("method")


def test_the_classifier_is_the_last_step():
    for description, classifier in [
        ("relieff → knn", "knn"),
        ("relieff(k=3) → top 5 → knn(n_neighbors=1)", "knn(n_neighbors=1)"),
        ("relieff → svm [tunes C 1, 10; top 1.0 … 0.3 (8 values)]", "svm"),
        ("knn", "knn"),
    ]:
        assert classifier_of(description) == classifier


def test_areas_are_the_means_of_the_stored_ones(make_curves):
    row = summary_of(make_curves, {("d", "A"): [0.6, 0.8, 0.7, 0.5, 0.9]}).iloc[0]
    assert (row["area"], row["area_linear"]) == (pytest.approx(0.7), pytest.approx(0.35))
    assert (row["folds"], row["planned"], row["sufficient_size"]) == (5, 5, 1)


def test_figures_of_the_ranking_are_those_at_the_sufficient_size(make_curves):
    rankings = [("d", "A", 1, 0.25, 0.5, 0.125, 5), ("d", "A", 4, 0.75, 0.5, 0.5, 5)]
    row = summary_of(make_curves, {("d", "A"): 0.5}, rankings=rankings).iloc[0]
    assert row[["stability", "precision", "recall"]].tolist() == [0.25, 0.5, 0.125]


def test_without_a_test_they_are_those_at_the_best_size(make_curves):
    rankings = [("d", "A", 1, 0.25, 0.5, 0.125, 3), ("d", "A", 4, 0.75, 0.5, 0.5, 3)]
    row = summary_of(make_curves, {("d", "A"): 0.5}, curve={1: [0.5] * 3, 4: [0.6] * 3}, rankings=rankings).iloc[0]
    assert np.isnan(row["sufficient_size"]) and row["best_size"] == 4
    assert row[["stability", "precision", "recall"]].tolist() == [0.75, 0.5, 0.5]


def test_a_cell_with_a_failed_trial_is_shown_and_not_compared(make_curves):
    areas = {("d", "A"): [0.6, None, 0.6, 0.6, 0.6], ("d", "B"): 0.5, ("e", "A"): 0.7, ("e", "B"): 0.8}
    summary = summary_of(make_curves, areas)
    first = summary.iloc[0]
    assert (first["area"], first["folds"], first["planned"]) == (pytest.approx(0.6), 4, 5)
    assert np.isnan(first["close_size"])
    frame = overview_of(summary, areas)
    assert frame["compared"].tolist() == [1, 1] and frame.loc["A", "rank"] == 2  # only e is compared
    assert frame.loc["A", "area"] == pytest.approx(0.7) and frame.loc["A", "datasets"] == 2
    assert frame.loc[["A", "B"], "close_on"].tolist() == [1, 2]


def test_a_method_that_failed_everywhere_on_a_dataset_keeps_its_row(make_curves):
    areas = {("d", "A"): [None] * FOLDS, ("d", "B"): 0.5, ("e", "A"): 0.7, ("e", "B"): 0.8}
    curves = make_curves({place: {1: [0.5] * FOLDS} for place, area in areas.items() if area != [None] * FOLDS})
    names = {"A": "knn", "B": "knn"}
    summary = curve_summary(curves, trials_of(areas), pd.DataFrame(columns=RANKINGS), names, SETTINGS)
    assert len(summary) == 4 and summary.iloc[0]["folds"] == 0 and np.isnan(summary.iloc[0]["area"])
    assert overview_of(summary, areas).loc["A", "datasets"] == 1


def test_a_method_missing_on_a_dataset_follows_the_policy_for_missing_cells(make_curves):
    areas = {("d", "A"): 0.6, ("d", "B"): 0.5, ("e", "B"): 0.8}
    summary = summary_of(make_curves, areas)
    assert overview_of(summary, areas)["compared"].tolist() == [1, 1]
    assert overview_of(summary, areas)["datasets"].to_dict() == {"A": 1, "B": 2}


def test_ranks_are_among_the_methods_of_a_classifier_and_ties_share_them(make_curves):
    areas = {("d", "A1"): 0.6, ("d", "B1"): 0.6, ("d", "C1"): 0.7, ("d", "A2"): 0.9, ("e", "A1"): 0.5, ("e", "B1"): 0.6,
             ("e", "C1"): 0.4, ("e", "A2"): 0.1}  # fmt: skip
    summary = summary_of(make_curves, areas, classifiers={"A2": "svm"})
    frame = overview_of(summary, areas)
    assert frame["rank"].to_dict() == {"B1": 1.75, "C1": 2.0, "A1": 2.25, "A2": 1.0}
    assert list(frame.index) == ["B1", "C1", "A1", "A2"]  # the best rank of each classifier first
    assert frame.loc["B1", "area"] == pytest.approx(0.6) and frame.loc["B1", "area_linear"] == pytest.approx(0.3)


def test_sizes_are_medians_over_the_datasets_that_have_them(make_curves):
    cells = {("d", "A"): {2: [0.5] * FOLDS, 4: [0.5] * FOLDS}, ("e", "A"): {8: [0.5] * FOLDS}, ("f", "A"): {1: [0.5]}}
    areas = {("d", "A"): 0.5, ("e", "A"): 0.5, ("f", "A"): [0.5]}
    curves = make_curves(cells | {("f", "A"): {1: [0.5], 3: [0.6]}})
    summary = curve_summary(curves, trials_of(areas), pd.DataFrame(columns=RANKINGS), {"A": "knn"}, SETTINGS)
    row = overview_of(summary, areas).loc["A"]
    assert (row["sufficient_size"], row["sufficient_on"]) == (5, 2)  # one fold of f allows no test
    assert (row["close_size"], row["close_on"]) == (3, 3)


def test_the_area_of_a_loss_ranks_the_other_way(make_curves):
    areas = {("d", "A"): 0.2, ("d", "B"): 0.5}
    settings = ComparisonSettings("accuracy", LOSSES, None, "corrected-t", 0.05, 0.25)
    frame = overview_of(summary_of(make_curves, areas, settings=settings), areas, settings)
    assert frame["rank"].to_dict() == {"A": 1.0, "B": 2.0}


def test_a_guess_fills_a_missing_cell_with_its_flat_area(make_curves):
    areas = {("d", "A"): 0.6, ("d", "B"): [None] * FOLDS, ("e", "A"): 0.8, ("e", "B"): 0.9}
    settings = ComparisonSettings("accuracy", SCORES, None, "corrected-t", 0.05, 0.25, missing="impute-dummy")
    frame = overview_of(summary_of(make_curves, areas), areas, settings, dummies={"d": 0.5, "e": 0.5})
    assert frame.loc["B", "area"] == pytest.approx(0.7) and set(frame["compared"]) == {2}
