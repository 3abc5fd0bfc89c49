"""Stability, precision and recall at each size agree with the general functions on the selected sets."""

import numpy as np
import pytest

from mfbench.run.trial.folds import choose
from mfbench.stats.curves import ranking_figures
from mfbench.stats.selection import nogueira_stability, selection_table
from mfbench_protocols.detection import detection_scores

SIZES = np.array([1, 2, 5, 12])


def rows_of(weights, dataset="d", method="A", status="ok"):
    return [{"dataset": dataset, "method": method, "status": status, "weights": one} for one in weights]


@pytest.fixture
def weights():
    # Rounded, so that there are ties.
    return list(np.random.default_rng(0).normal(size=(6, 12)).round(1) + np.arange(12) / 5)


def test_the_figures_are_those_of_the_selected_sets(weights):
    relevant = [11, 10, 2]
    frame = ranking_figures(rows_of(weights), {("d", "A"): SIZES}, {"d": relevant})
    assert frame["size"].tolist() == SIZES.tolist() and set(frame["folds"]) == {6}
    for row in frame.to_dict("records"):
        sets = [choose(one, row["size"]) for one in weights]
        scores = [detection_scores(chosen, one, relevant) for chosen, one in zip(sets, weights, strict=True)]
        assert row["stability"] == pytest.approx(nogueira_stability(selection_table(sets, 12)).value, nan_ok=True)
        assert row["precision"] == pytest.approx(np.mean([score["precision"] for score in scores]))
        assert row["recall"] == pytest.approx(np.mean([score["detection"] for score in scores]))
    assert np.isnan(frame["stability"].iloc[-1])  # all features


def test_without_truth_there_is_the_stability_alone(weights):
    frame = ranking_figures(rows_of(weights), {("d", "A"): SIZES}, {})
    assert frame["precision"].isna().all() and frame["recall"].isna().all()
    assert frame["stability"].notna().tolist() == [True, True, True, False]


def test_failed_trials_methods_without_a_curve_and_without_weights_do_not_count(weights):
    rows = [
        *rows_of(weights),
        *rows_of([-weights[0]], status="error"),
        *rows_of(weights, method="other"),
        *rows_of([None]),
    ]
    frame = ranking_figures(rows, {("d", "A"): SIZES}, {})
    assert frame.equals(ranking_figures(rows_of(weights), {("d", "A"): SIZES}, {}))


def test_a_single_fold_has_no_stability(weights):
    frame = ranking_figures(rows_of(weights[:1]), {("d", "A"): SIZES}, {"d": [0]})
    assert frame["stability"].isna().all() and frame["recall"].iloc[-1] == 1.0


def test_methods_that_share_a_fit_have_the_same_figures_and_other_sizes_their_own(weights):
    rows = rows_of(weights) + rows_of(weights, method="B") + rows_of(weights, method="C")
    places = {("d", "A"): SIZES, ("d", "B"): SIZES, ("d", "C"): SIZES[1:]}
    frame = ranking_figures(rows, places, {"d": [0, 1]}).set_index(["method", "size"])
    figures = ["stability", "precision", "recall"]
    assert frame.loc["A", figures].equals(frame.loc["B", figures])
    assert frame.loc["C", figures].to_numpy() == pytest.approx(frame.loc["A", figures].to_numpy()[1:], nan_ok=True)


def test_features_without_weight_do_not_count_where_weights_count_in_a_distance(weights):
    """At each size, those that count are what the trial of the same method with ``top`` records as selected."""
    few = [np.where(one > 1.0, one, -0.5) for one in weights[:-1]] + [np.full(12, -1.0)]
    frame = ranking_figures(rows_of(few), {("d", "A"): SIZES}, {"d": [11, 10, 2]}, weighted=["A"])
    for row in frame.to_dict("records"):
        sets = [choose(one, row["size"]) for one in few]
        sets = [chosen[one[chosen] > 0] if (one > 0).any() else chosen for chosen, one in zip(sets, few, strict=True)]
        scores = [detection_scores(chosen, one, [11, 10, 2]) for chosen, one in zip(sets, few, strict=True)]
        expected = nogueira_stability(selection_table(sets, 12)).value
        assert row["stability"] == pytest.approx(expected, nan_ok=True)
        assert row["precision"] == pytest.approx(np.mean([score["precision"] for score in scores]))
        assert row["recall"] == pytest.approx(np.mean([score["detection"] for score in scores]))
    plain = ranking_figures(rows_of(few), {("d", "A"): SIZES}, {"d": [11, 10, 2]}, weighted=["B"])
    assert not plain["recall"].equals(frame["recall"])
