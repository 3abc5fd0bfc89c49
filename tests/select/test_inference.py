"""Scores of selected pipelines: definitions, independent formulas, and measured coverage."""

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap, ttest_1samp
from simulated_tables import (
    CELLS,
    NUMBERS,
    row_scores,
    row_scores_of_numbers,
    table,
    table_of_numbers,
    true_r2,
    true_score,
)

from mfbench_select import inference
from mfbench_select.inference import RowScores, difference, gain, not_worse, rows_to_decide, selected_score, wilson


def shares(p, n=200, repeats=5, seed=0):
    """Return row scores of pipelines with the given probabilities of a correct row."""
    rng = np.random.default_rng(seed)
    return RowScores((rng.random((repeats, n, len(p))) < np.array(p)).astype(np.float32), 5)


def scored(scores):
    """Return the interval of the first pipeline, as if it had been named before."""
    return inference.interval_around(scores, 0, float(scores.scores[0]))


class TestInterval:
    @pytest.mark.parametrize(("share", "n"), [(0.5, 10), (0.0, 30), (1.0, 7), (0.97, 569)])
    def test_wilson(self, share, n):
        expected = binomtest(round(share * n), n).proportion_ci(method="wilson")
        assert wilson(round(share * n) / n, n) == pytest.approx(tuple(expected))

    def test_variances_are_inflated_as_noted(self):
        scores = shares([0.5])
        assert scores.inflation == pytest.approx(1.45)
        assert shares([0.5], repeats=1).inflation == pytest.approx(2.25)
        assert shares([0.5], repeats=20).inflation == pytest.approx(1.45)
        interval = scored(scores)
        assert (interval.low, interval.high) == pytest.approx(wilson(interval.value, 200 / 1.45))

    def test_one_pipeline_is_not_chosen_so_nothing_is_corrected(self):
        scores = shares([0.7])
        assert selected_score(scores).value == pytest.approx(scores.scores[0], abs=0.004)

    def test_the_best_of_equal_pipelines_is_corrected(self):
        scores = shares([0.5] * 40, repeats=1)
        corrected = selected_score(scores)
        assert scores.scores.max() > 0.55
        assert corrected.value < scores.scores.max() - 0.03
        assert corrected.low < 0.5 < corrected.high

    def test_a_constant_pipeline_has_an_interval(self):
        values = np.zeros((5, 100, 1), dtype=np.float32)
        values[:, :70] = 1.0
        interval = selected_score(RowScores(values, 5))
        assert interval.value == pytest.approx(0.7, abs=0.01)
        assert interval.low < 0.62 and interval.high > 0.76

    def test_numbers(self):
        values = np.random.default_rng(0).normal(size=(1, 500, 1)).astype(np.float32)
        scores = RowScores(values, 5, are_shares=False)
        interval = scored(scores)
        low, high = ttest_1samp(values[0, :, 0], 0.0).confidence_interval()
        assert interval.high - interval.low == pytest.approx((high - low) * np.sqrt(2.25), rel=1e-3)
        resampled = bootstrap((values[0, :, 0],), np.mean, random_state=0).confidence_interval
        assert high - low == pytest.approx(resampled.high - resampled.low, rel=0.1)

    def test_r2_is_a_ratio(self):
        """The error is that of a bootstrap of 1 - SSE / SST, not that of the mean squared error alone."""
        rng = np.random.default_rng(1)
        for noise in (0.3, 3.0):
            signal = rng.normal(size=400)
            y = signal + noise * rng.normal(size=400)
            errors = (y - signal) ** 2
            scores = RowScores(
                (1.0 - errors / y.var()).astype(np.float32)[None, :, None],
                5,
                are_shares=False,
                deviations=(y - y.mean()) ** 2 / y.var(),
            )
            samples = rng.integers(0, 400, (2000, 400))
            draws = [1.0 - errors[rows].mean() / y[rows].var() for rows in samples]
            assert scored(scores).error / np.sqrt(2.25 * 1.75) == pytest.approx(np.std(draws), rel=0.1)

    def test_the_mean_over_classes(self):
        strata = np.repeat([0, 1], [180, 20])
        values = np.zeros((5, 200, 1), dtype=np.float32)
        values[:, :180] = 1.0
        scores = RowScores(values, 5, strata=strata)
        assert scores.scores.tolist() == pytest.approx([0.5])
        interval = selected_score(scores)
        assert interval.low < 0.5 < interval.high
        # The rare class decides the width.
        assert interval.high - 0.5 == pytest.approx(wilson(0.0, 20 / 1.45)[1] / 2, abs=0.01)

    def test_rows_of_a_group_count_once(self):
        values = np.repeat(shares([0.6], n=50, repeats=1).values, 10, axis=1)
        grouped = RowScores(values, 5, units=np.repeat(np.arange(50), 10))
        interval = scored(grouped)
        assert (interval.low, interval.high) == pytest.approx(wilson(interval.value, 50 / 2.25))


class TestDifferences:
    def test_pairing(self):
        scores = shares([0.8, 0.8], repeats=1)
        same = RowScores(scores.values[:, :, [0, 0]], 5)
        assert difference(same, 0, 1).error == 0.0 and inference.p_worse(same, 1, 0) == 1.0
        expected = (scores.values[0, :, 0] - scores.values[0, :, 1]).std() * np.sqrt(2.25 / 200)
        assert difference(scores, 0, 1).error == pytest.approx(expected)

    def test_holm(self):
        scores = shares([0.9, 0.88, 0.5, 0.9, 0.3], repeats=5)
        best = scores.best
        assert set(not_worse(scores, best)) == {0, 1, 3} - {best}

    def test_a_gain_is_not_that_of_the_luckiest(self):
        scores = shares([0.5] * 41, repeats=1)
        interval = gain(scores, range(40), [40])
        naive = scores.scores[:40].max() - scores.scores[40]
        assert interval.value < naive - 0.03 and interval.low < 0.0 < interval.high
        assert gain(shares([0.5, 0.9]), [1], [0]).low > 0.3

    def test_rows_to_decide(self):
        interval = inference.Interval(0.02, -0.02, 0.06, 0.02)
        assert rows_to_decide(interval, 100) == pytest.approx(100 * (1.959964 + 0.841621) ** 2)
        assert rows_to_decide(inference.Interval(-0.02, -0.06, 0.02, 0.02), 100) == np.inf

    def test_the_simplest_of_equals_is_preferred(self):
        assert inference.best_of(np.array([0.1, 0.9, 0.9, 0.9])) == 1


def coverage(cell, tables, seed=0):
    """Return the coverage of the interval, the share of tables with a claim against the constant, and the widths."""
    covered, claims, widths = [], [], []
    share = CELLS[cell][4]
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        X, y = table(cell, rng)
        scores = row_scores(X, y, rng)
        interval = selected_score(scores)
        truth = true_score(X, y, scores.best, cell, rng)
        covered.append(interval.low <= truth <= interval.high)
        claims.append(interval.low > max(share, 1.0 - share))
        widths.append(interval.high - interval.low)
    return float(np.mean(covered)), float(np.mean(claims)), np.array(widths)


def test_a_table_of_each_cell():
    for cell in CELLS:
        _, claims, widths = coverage(cell, 2)
        assert widths.min() > 0.05 and widths.max() < 0.3, cell
        assert claims == 0.0 or "null" not in cell


@pytest.mark.nightly(reason="1,800 tables")
def test_coverage():
    measured = {cell: coverage(cell, 300) for cell in CELLS}
    rates = [covered for covered, _, _ in measured.values()]
    assert 0.93 <= np.mean(rates) <= 0.98 and min(rates) >= 0.89, measured
    for cell, (_, claims, widths) in measured.items():
        if "null" in cell:
            assert claims <= 0.05 and widths.min() > 0.0, cell


@pytest.mark.nightly(reason="1,200 tables")
def test_coverage_of_r2():
    rates = {}
    for cell in NUMBERS:
        covered, claims = [], []
        for number in range(300):
            rng = np.random.default_rng([0, number])
            X, y = table_of_numbers(cell, rng)
            scores = row_scores_of_numbers(X, y, rng)
            interval = selected_score(scores)
            covered.append(interval.low <= true_r2(X, y, scores.best, cell, rng) <= interval.high)
            claims.append(interval.low > 0.0)
        rates[cell] = float(np.mean(covered))
        assert "null" not in cell or np.mean(claims) <= 0.05
    assert 0.93 <= np.mean(list(rates.values())) <= 0.99 and min(rates.values()) >= 0.89, rates
