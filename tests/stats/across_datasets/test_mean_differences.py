"""Mean differences over datasets: formulas against plain code, and what must not change them."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from toy_metrics import SCORES

from mfbench.model.evaluation import Score
from mfbench.stats.cells import CellResults, ComparisonSettings
from mfbench.stats.mean_differences import Error, MeanDifferences, error_on, ordered, squared_errors
from mfbench.stats.paired import corrected_t_test

LOSS = Score(greater_is_better=False, percent=False, in_units=True)
SETTINGS = ComparisonSettings("accuracy", SCORES, None, "corrected-t", 0.05, 1 / 4, rows=(("d", 100),))


def cell(scores, repeats=1, ok=True, right=None):
    scores = np.asarray(scores, dtype=float)
    numbers = np.repeat(np.arange(repeats), len(scores) // repeats)
    decisions = [np.asarray(right, dtype=bool)] if right is not None else []
    return CellResults(scores, numbers, np.full(len(scores), ok), lambda: decisions)


def compared(scores, folds=5, families=None, seed=1, **changes):
    """The comparison of a table of means, whose folds have standard deviations between 0.01 and 0.05."""
    rng = np.random.default_rng(seed)
    scores = ordered(scores)
    errors = {}
    for label in sorted(scores.index):
        own = {name: rng.normal(0, rng.uniform(0.01, 0.05), folds) for name in sorted(scores.columns)}
        values = np.array([own[name] - own[name].mean() for name in scores.columns])
        errors[label] = Error(squared_errors(values, 1 / folds + 1 / (folds - 1)), folds - 1.0)
    names = [str(label) if families is None else families[label] for label in scores.index]
    return MeanDifferences(scores, [errors[label] for label in scores.index], names, **changes)


def table(n_datasets, n_methods=4, seed=0, apart=0.01):
    rng = np.random.default_rng(seed)
    methods = [f"m{i}" for i in range(n_methods)]
    values = (
        rng.uniform(0.6, 0.9, (n_datasets, 1))
        - apart * np.arange(n_methods)
        + rng.normal(0, 0.02, (n_datasets, n_methods))
    )
    return pd.DataFrame(values, [f"d{i:02}" for i in range(n_datasets)], methods).round(4)


class TestTheseDatasets:
    def test_one_dataset_with_one_repeat_is_the_corrected_test(self):
        rng = np.random.default_rng(0)
        first, second = 0.9 + rng.normal(0, 0.01, 5), 0.88 + rng.normal(0, 0.01, 5)
        scores = pd.DataFrame({"A": [first.mean()], "B": [second.mean()]}, ["d"])
        found = MeanDifferences(scores, [error_on([cell(first), cell(second)], "d", SETTINGS)], ["d"]).these.iloc[0]
        expected = corrected_t_test(first, second, 1 / 4)
        assert found[["mean", "p_value", "low", "high"]].tolist() == pytest.approx(
            [expected.difference, expected.p_value, expected.low, expected.high]
        )
        assert found["holm"] == found["p_value"] and np.isnan(found["tau"])

    def test_the_errors_of_datasets_add_up(self):
        scores = table(4, 2)
        made = compared(scores)
        squares = np.array([own.squares[0, 1] for own in made.errors])
        df = squares.sum() ** 2 / np.sum(squares**2 / 4)
        mean = (made.scores.iloc[:, 0] - made.scores.iloc[:, 1]).mean()
        error = np.sqrt(squares.sum()) / 4
        found = made.these.iloc[0]
        assert found["p_value"] == pytest.approx(2 * stats.t.sf(mean / error, df))
        assert (found["low"], found["high"]) == pytest.approx(stats.t.interval(0.95, df, mean, error))
        assert found["equal"] == pytest.approx(stats.t.cdf((mean - 0.01) / error, df))
        assert found["beyond"] == pytest.approx(min(1, 2 * stats.t.sf((mean - 0.01) / error, df)))

    def test_what_varies_over_datasets(self):
        scores = pd.DataFrame({"A": [0.9, 0.8, 0.75, 0.7], "B": [0.8, 0.8, 0.755, 0.72]}, list("wxyz"))
        found = compared(scores).these.iloc[0]
        assert (found["better"], found["within"], found["worse"]) == (1, 2, 1)
        assert (found["least"], found["most"]) == pytest.approx((-0.025 / 3, 0.095 / 3))
        apart = (scores["A"] - scores["B"]).to_numpy()
        errors = [own.squares[0, 1] for own in compared(scores).errors]
        assert found["tau"] == pytest.approx(np.sqrt(max(0, apart.var(ddof=1) - np.mean(errors))))

    def test_a_small_difference_with_small_errors_is_equality(self):
        scores = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.899, 0.8, 0.701]}, list("xyz"))
        tight = [Error(np.array([[0, 1e-8], [1e-8, 0]]), 4.0)] * 3
        assert MeanDifferences(scores, tight, list("xyz")).these["equal"][0] < 0.001
        assert compared(scores).these["equal"][0] > 0.05

    def test_repeats_count_as_one(self):
        rng = np.random.default_rng(2)
        cells = [cell(rng.normal(0.8, 0.02, 50), 10) for _ in range(2)]
        squares = error_on(cells, "d", SETTINGS).squares[0, 1]
        variance = (cells[0].scores - cells[1].scores).var(ddof=1)
        assert squares == pytest.approx((1 / 5 + 1 / 4) * variance)

    def test_folds_without_a_spread(self):
        one, other = cell([0.9] * 5), cell([0.8] * 5)
        assert error_on([one, other], "d", SETTINGS).squares[0, 1] == pytest.approx((100 * 0.1 + 1) / 100**2)
        assert error_on([one, one], "d", SETTINGS).squares[0, 1] == 0.0
        in_units = ComparisonSettings("rmse", {"rmse": LOSS}, None, "corrected-t", 0.05, 1 / 4)
        assert np.isnan(error_on([one, other], "d", in_units).squares[0, 1])

    def test_a_score_in_units_is_divided_by_the_spread_of_the_target(self):
        rng = np.random.default_rng(0)
        one, other = rng.normal(10, 1, 5), rng.normal(12, 1, 5)
        in_units = ComparisonSettings("rmse", {"rmse": LOSS}, None, "corrected-t", 0.05, 1 / 4, spreads=(("d", 8.0),))
        expected = (1 / 5 + 1 / 4) * (one - other).var(ddof=1) / 64
        assert error_on([cell(one), cell(other)], "d", in_units).squares[0, 1] == pytest.approx(expected)

    def test_a_single_test_set_has_the_rows_on_which_methods_differ(self):
        cells = [cell([0.75], right=[1, 1, 1, 0]), cell([0.5], right=[0, 1, 1, 1]), cell([0.75], right=[1, 1, 1, 0])]
        squares = error_on(cells, "d", SETTINGS).squares
        assert squares[0, 1] == pytest.approx(3 / 16) and squares[0, 2] == 0.0

    def test_without_known_errors_nothing_is_claimed(self):
        rng = np.random.default_rng(0)
        whole, failed = cell(rng.normal(0.8, 0.1, 5)), cell(rng.normal(0.8, 0.1, 5), ok=False)
        squares = error_on([whole, failed, whole], "d", SETTINGS).squares
        assert np.isnan(squares[0, 1]) and squares[0, 2] == 0.0
        assert error_on([failed], "d", SETTINGS) is None
        own = ComparisonSettings("accuracy", SCORES, None, "corrected-t", 0.05, 1 / 4, own_ratios=(("d", np.nan),))
        assert error_on([whole, whole], "d", own) is None
        printed = MeanDifferences(ordered(table(8)), [None] * 8, list("abcdefgh"))
        assert printed.these[["p_value", "holm", "low", "equal"]].isna().all(axis=None)
        assert printed.like_these["adjusted"].notna().all()

    def test_four_folds_in_all_are_too_few(self):
        assert np.isnan(compared(table(1), folds=4).these["p_value"][0])
        assert np.isfinite(compared(table(2), folds=4).these["p_value"][0])


def by_definition(scores, families, cap=0.1, pairs=None):
    """Adjusted p-values in plain loops over all flips and all pairs."""
    names = sorted(set(families))
    values, every = {}, list(combinations(scores.columns, 2))
    for a, b in every:
        capped = np.clip((scores[a] - scores[b]).to_numpy().round(12), -cap, cap)
        values[a, b] = [sum(x for x, own in zip(capped, families, strict=True) if own == name) for name in names]
    squares = {pair: sum(x * x for x in own) for pair, own in values.items()}
    pooled, k = np.mean(list(squares.values())), len(names)
    scale = {pair: np.sqrt((k * square + 10 * pooled) / (k + 10)) for pair, square in squares.items()}
    pairs = every if pairs is None else pairs
    found = {pair: abs(sum(values[pair])) / scale[pair] for pair in pairs}
    adjusted, largest = {}, 0.0
    for pair in sorted(pairs, key=lambda each: -found[each]):
        rest = [other for other in pairs if found[other] <= found[pair] + 1e-12]
        reached = [
            max(abs(np.dot(signs, values[other])) / scale[other] for other in rest) >= found[pair] - 1e-9
            for signs in product((1, -1), repeat=k)
        ]
        largest = adjusted[pair] = max(largest, np.mean(reached))
    return adjusted


class TestDatasetsLikeThese:
    @pytest.mark.parametrize("families", ["abcdefg", "abbcdefg", "aabbcdefg"])
    def test_p_values_are_those_of_all_flips(self, families):
        scores = table(len(families), 3, apart=0.015)
        made = compared(scores, families=dict(zip(scores.index, families, strict=True)), reference="m1")
        found = made.like_these.set_index(["first", "second"])
        expected = by_definition(made.scores, made.families)
        assert found["adjusted"].to_dict() == pytest.approx(expected)
        own = [pair for pair in expected if "m1" in pair]
        assert found["named"].dropna().to_dict() == pytest.approx(by_definition(made.scores, made.families, pairs=own))

    def test_a_difference_counts_up_to_the_cap(self):
        scores = table(8, 2)
        scores.loc["d00", "m0"] = 0.99
        scores.loc["d00", "m1"] = 0.2
        apart = (scores["m0"] - scores["m1"]).clip(-0.1, 0.1)
        found = compared(scores).like_these.iloc[0]
        assert found["mean"] == pytest.approx(apart.mean())
        interval = stats.t.interval(0.95, 7, apart.mean(), stats.sem(apart))
        assert (found["low"], found["high"]) == pytest.approx(interval)

    def test_shares_have_the_interval_of_jeffreys(self):
        scores = pd.DataFrame({"A": np.linspace(0.7, 0.9, 8), "B": np.linspace(0.7, 0.9, 8)}, list("abcdefgh"))
        scores.loc[list("abc"), "A"] += 0.05
        scores.loc["d", "A"] += 0.005
        found = compared(scores).like_these.iloc[0]
        assert (found["better"], found["worse"]) == (3 / 8, 0.0)
        limits = stats.beta.ppf([0.025, 0.975], 3.5, 5.5)
        assert found[["better_low", "better_high"]].tolist() == pytest.approx(list(limits))
        assert found["worse_low"] == 0.0 and found["worse_high"] == pytest.approx(stats.beta.ppf(0.975, 0.5, 8.5))

    @pytest.mark.parametrize(
        ("n", "alpha", "enough"),
        [(5, 0.05, False), (6, 0.05, True), (6, 0.01, False), (8, 0.01, True), (5, 0.1, False)],
    )
    def test_six_datasets_or_more_for_a_stricter_level(self, n, alpha, enough):
        made = compared(table(n), alpha=alpha)
        assert made.is_enough == enough == bool(len(made.like_these))

    def test_related_datasets_count_once(self):
        scores = table(8)
        made = compared(scores, families={label: "one" if label < "d04" else label for label in scores.index})
        assert (made.n_families, made.is_enough) == (5, False)

    def test_intervals_and_groups_agree(self):
        made = compared(table(20, 6, apart=0.01), flips=999)
        frame = made.like_these
        apart = (frame["low_all"] > 0) | (frame["high_all"] < 0)
        assert 0 < apart.sum() < len(frame)
        assert (frame["adjusted"][apart] < 0.05).all()
        these = made.these
        assert (these["holm"][(these["low_all"] > 0) | (these["high_all"] < 0)] < 0.05).all()


class TestWhatMustNotMatter:
    @pytest.mark.parametrize("n", [9, 20])
    def test_the_order_of_methods_and_datasets(self, n):
        scores, rng = table(n, 5), np.random.default_rng(3)
        one = compared(scores, flips=500)
        other = compared(scores.iloc[rng.permutation(n), rng.permutation(5)], flips=500)
        pd.testing.assert_frame_equal(one.these, other.these, check_exact=True)
        pd.testing.assert_frame_equal(one.like_these, other.like_these, check_exact=True)

    def test_turning_the_scores_turns_the_differences(self):
        scores = table(9, 2)
        up, down = compared(scores), compared(-scores)
        assert up.methods == down.methods[::-1]
        for frame, other in ((up.these, down.these), (up.like_these, down.like_these)):
            pd.testing.assert_frame_equal(
                frame.drop(columns=["first", "second"]), other.drop(columns=["first", "second"]), check_exact=False
            )

    def test_a_row_read_from_the_other_side(self):
        made = compared(table(9, 3))
        for frame in (made.these, made.like_these):
            ahead = made.against(made.methods[0], frame)
            behind = made.against(made.methods[2], frame)
            one, other = (
                ahead[ahead["second"] == made.methods[2]].iloc[0],
                behind[behind["second"] == made.methods[0]].iloc[0],
            )
            assert one["mean"] == -other["mean"] and one["low"] == -other["high"] and one["better"] == other["worse"]

    def test_the_same_seed_gives_the_same_p_values(self):
        scores = table(20)
        pd.testing.assert_frame_equal(compared(scores, seed=4).like_these, compared(scores, seed=4).like_these)

    def test_methods_that_tie_everywhere_are_neither_separated_nor_called_equal(self):
        scores = table(8, 1).assign(other=lambda frame: frame["m0"])
        made = MeanDifferences(ordered(scores), [Error(np.zeros((2, 2)), 4.0)] * 8, list(scores.index))
        assert made.these[["p_value", "holm", "equal", "beyond"]].eq(1.0).all(axis=None)
        assert made.like_these[["adjusted", "equal"]].eq(1.0).all(axis=None)
        assert made.groups(made.these, "holm") == {"m0": "a", "other": "a"}
