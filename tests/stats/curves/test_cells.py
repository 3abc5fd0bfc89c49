"""Rows of curves become one table of folds by sizes for each method and dataset."""

import numpy as np

from mfbench.stats.curves import curve_cells


def test_rows_in_any_order_become_tables_of_folds_by_sizes(make_curves):
    curves = make_curves({("d", "A"): {1: [0.1, 0.2], 10: [0.3, 0.4]}, ("d", "B"): {2: [0.5, 0.6]}})
    cells = curve_cells(curves.sample(frac=1.0, random_state=0), "accuracy")
    assert set(cells) == {("d", "A"), ("d", "B")}
    assert cells["d", "A"].sizes.tolist() == [1, 10]
    assert cells["d", "A"].scores.tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert cells["d", "B"].scores.tolist() == [[0.5], [0.6]]


def test_repeats_are_folds_of_their_own(make_curves):
    curves = make_curves({("d", "A"): {1: [0.1, 0.2]}})
    both = curve_cells(curves.assign(fold=0, replicate=[0, 1]), "accuracy")["d", "A"].scores
    assert both.tolist() == [[0.1], [0.2]]


def test_only_the_rows_of_the_metric_count(make_curves):
    curves = make_curves({("d", "A"): {1: [0.1]}})
    assert curve_cells(curves, "mcc") == {}


def test_a_fold_without_a_score_at_every_size_is_not_whole(make_curves):
    curves = make_curves({("d", "A"): {1: [0.1, 0.2], 10: [0.3, np.nan]}})
    cell = curve_cells(curves, "accuracy")["d", "A"]
    assert cell.whole.tolist() == [[0.1, 0.3]] and cell.means.tolist() == [0.1, 0.3]
    nothing = curve_cells(curves[curves["fold"] == 1], "accuracy")["d", "A"]
    assert np.isnan(nothing.means).all()
