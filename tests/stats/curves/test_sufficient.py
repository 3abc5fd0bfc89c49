"""Sizes that are enough: not significantly worse than the best size, or close to the best of the dataset."""

import numpy as np
import pytest
from scipy import stats

from mfbench.model.evaluation import Score
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.curves import CurveCell, close_size, sufficient_size, sufficient_sizes

NOISE = np.array([0.02, -0.01, 0.0, 0.01, -0.02])


def cell_of(columns):
    return CurveCell(np.array(list(columns)), np.column_stack(list(columns.values())))


SETTINGS = ComparisonSettings("accuracy", {"accuracy": Score()}, None, "corrected-t", 0.05, 0.25)


def row_of(curves):
    (row,) = sufficient_sizes(curves, SETTINGS, [("d", "A")]).to_dict("records")
    return row


class TestSufficientSize:
    def test_the_verdict_is_that_of_the_one_sided_corrected_test(self):
        best, other = 0.9 + NOISE, 0.87 + NOISE[::-1] / 2
        d = best - other
        t = d.mean() / np.sqrt((1 / 5 + 0.25) * d.var(ddof=1))
        p = stats.t.sf(t, 4)
        cell = cell_of({2: other, 8: best})
        assert 0.01 < p < 0.2
        assert sufficient_size(cell, 1.0, 0.25, alpha=p * 1.001) == 8
        assert sufficient_size(cell, 1.0, 0.25, alpha=p * 0.999) == 2

    def test_it_is_the_smallest_one_even_if_a_size_between_is_worse(self):
        cell = cell_of({1: 0.895 + NOISE[::-1], 2: 0.3 + NOISE[::-1], 8: 0.9 + NOISE})
        assert sufficient_size(cell, 1.0, 0.25) == 1

    def test_a_size_that_is_always_behind_by_the_same_is_not_sufficient(self):
        # Without a spread of the differences there is no verdict, which is not the same as "not worse".
        assert sufficient_size(cell_of({1: 0.5 + NOISE, 8: 0.9 + NOISE}), 1.0, 0.25) == 8

    def test_equal_scores_need_the_smallest_size(self):
        assert sufficient_size(cell_of({1: [0.9] * 5, 4: [0.9] * 5}), 1.0, 0.25) == 1

    def test_of_several_best_sizes_the_smallest_is_compared(self):
        cell = cell_of({1: 0.5 + NOISE, 4: 0.9 + NOISE[::-1], 8: 0.9 + NOISE})
        assert sufficient_size(cell, 1.0, 0.25) == 4

    def test_smaller_scores_can_be_better(self):
        cell = cell_of({1: 0.9 + NOISE, 4: 0.2 + NOISE[::-1], 8: 0.9 + NOISE})
        assert sufficient_size(cell, -1.0, 0.25) == 4

    def test_below_five_folds_there_is_none(self):
        assert np.isnan(sufficient_size(cell_of({1: [0.5] * 4, 4: [0.9] * 4}), 1.0, 0.25))

    def test_a_single_size_needs_no_test(self):
        assert sufficient_size(cell_of({7: [0.5]}), 1.0, 0.25) == 7


class TestCloseSize:
    def test_95_percent_are_reached_exactly(self):
        cell = cell_of({1: [0.7599], 2: [0.76], 4: [0.8]})
        assert close_size(cell, 0.8) == 2

    def test_a_method_may_never_be_close(self):
        assert np.isnan(close_size(cell_of({1: [0.5], 2: [0.6]}), 0.8))

    def test_of_a_loss_95_percent_are_a_twentieth_more(self):
        cell = cell_of({1: [0.43], 2: [0.4 / 0.95], 4: [0.41]})
        assert close_size(cell, 0.4, greater_is_better=False) == 2

    def test_of_a_negative_best_there_is_no_share(self):
        assert np.isnan(close_size(cell_of({1: [-0.1]}), -0.1))


class TestSufficientSizes:
    def test_the_best_is_that_of_any_method_and_size_of_the_dataset(self, make_curves):
        curves = make_curves({
            ("d", "A"): {1: 0.5 + NOISE, 10: 0.9 + NOISE[::-1]},
            ("d", "B"): {1: 0.7 + NOISE, 5: 0.84 + NOISE, 10: 0.86 + NOISE[::-1]},
            ("e", "B"): {1: 0.5 + NOISE},
        })  # fmt: skip
        complete = [("d", "A"), ("d", "B"), ("e", "B")]
        frame = sufficient_sizes(curves, SETTINGS, complete).set_index(["dataset", "method"])
        assert frame["best_size"].tolist() == [10, 10, 1]
        assert frame["best_mean"].tolist() == pytest.approx([0.9, 0.86, 0.5])
        assert frame["close_size"].tolist() == [10, 10, 1]  # 0.95 · 0.9 = 0.855
        assert frame["sufficient_size"].tolist() == [10, 5, 1]
        assert frame["sufficient_mean"].tolist() == pytest.approx([0.9, 0.84, 0.5])

    def test_an_incomplete_cell_has_sizes_of_its_own_and_is_not_compared(self, make_curves):
        curves = make_curves({
            ("d", "A"): {1: 0.5 + NOISE, 10: 0.99 + NOISE[::-1] / 10},
            ("d", "B"): {1: 0.7 + NOISE, 10: 0.8 + NOISE[::-1]},
        })  # fmt: skip
        frame = sufficient_sizes(curves, SETTINGS, [("d", "B")]).set_index("method")
        assert frame.loc["A", "sufficient_size"] == 10 and np.isnan(frame.loc["A", "close_size"])
        assert frame.loc["B", "close_size"] == 10  # of its own best, because A is not complete

    def test_a_method_without_any_score_has_no_sizes(self, make_curves):
        row = row_of(make_curves({("d", "A"): {1: [np.nan] * 5}}))
        assert all(np.isnan(value) for name, value in row.items() if name not in ("dataset", "method"))

    def test_constant_scores_are_sufficient_at_once(self, make_curves):
        row = row_of(make_curves({("d", "A"): {2: [0.8] * 5, 4: [0.8] * 5}}))
        assert (row["best_size"], row["sufficient_size"], row["close_size"]) == (2, 2, 2)
        assert row["sufficient_mean"] == pytest.approx(0.8)

    def test_one_fold_has_a_best_and_a_close_size_alone(self, make_curves):
        row = row_of(make_curves({("d", "A"): {2: [0.8], 4: [0.81]}}))
        assert (row["best_size"], row["close_size"]) == (4, 2)
        assert np.isnan(row["sufficient_size"]) and np.isnan(row["sufficient_mean"])
