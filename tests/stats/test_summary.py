"""From trials to tables: complete cells are compared, incomplete ones shown, wins and losses mirror each other."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_metrics import LOSSES, SCORES

from mfbench.errors import UnknownNameError
from mfbench.stats.cells import ComparisonSettings, results_by_cell
from mfbench.stats.paired import corrected_t_test
from mfbench.stats.rules import compare
from mfbench.stats.summary import compare_with_reference, summarise, tabulate

FOLDS = 5


def settings_for(reference="A", **changes):
    base = {"metric": "accuracy", "scores": SCORES, "test": "corrected-t", "alpha": 0.05, "ratio": 0.25}
    return ComparisonSettings(reference=reference, **{**base, **changes})


def trials(cells, **columns):
    """Rows from {(dataset, method): scores}; a score of None is a failed trial, ... one that has not run."""
    rows = []
    for (dataset, method), scores in cells.items():
        for fold, score in enumerate(scores):
            status = "error" if score is None else None if score is ... else "ok"
            value = score if status == "ok" else np.nan
            times = {
                "tune_wall": 0.5,
                "select_wall": 1.0,
                "fit_wall": 2.0,
                "predict_wall": 4.0,
                "peak_memory": 100 + fold,
                "duration": 1.0,
            }
            times = times if status else dict.fromkeys(times)
            rows.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "repeat": 0,
                    "fold": fold,
                    "status": status,
                    "accuracy": value,
                }
                | times
                | columns
            )
    return pd.DataFrame(rows)


def summary_of(frame, settings):
    return summarise(frame, settings, compare_with_reference(frame, settings))


def spread(mean, seed=0, width=0.01):
    """Scores of that mean exactly, with a spread of their own."""
    noise = np.random.default_rng(seed).normal(0, width, FOLDS)
    return list(mean + noise - noise.mean())


HIGH, LOW = spread(0.9, 1), spread(0.5, 2)


class TestTabulate:
    def test_mean_and_sd_are_those_of_the_folds(self):
        table = tabulate(trials({("d", "A"): HIGH}), settings_for()).iloc[0]
        assert table["mean"] == pytest.approx(np.mean(HIGH))
        assert table["sd"] == pytest.approx(np.std(HIGH, ddof=1))
        assert (table["planned"], table["completed"], table["complete"]) == (5, 5, True)

    @pytest.mark.parametrize("hole", [None, ...], ids=["failed", "not run"])
    def test_a_cell_with_a_hole_is_incomplete_and_told_from_what_there_is(self, hole):
        table = tabulate(trials({("d", "A"): [0.5, 0.7, hole, hole, hole], ("d", "B"): LOW}), settings_for())
        a, b = table.iloc[0], table.iloc[1]
        assert (a["planned"], a["completed"], a["complete"]) == (5, 2, False)
        assert a["mean"] == pytest.approx(0.6)
        assert (a["best"], a["not_worse"]) == (False, False)
        # The best is the best of the complete ones, although the incomplete mean is larger.
        assert (b["best"], b["not_worse"]) == (True, True)

    def test_a_score_that_is_nan_makes_a_cell_incomplete(self):
        table = tabulate(trials({("d", "A"): [0.5, 0.6, np.nan, 0.5, 0.6]}), settings_for())
        assert not table["complete"].iloc[0]
        assert not table["best"].iloc[0]

    def test_nothing_completed_has_no_mean(self):
        row = tabulate(trials({("d", "A"): [None] * 5}), settings_for()).iloc[0]
        assert np.isnan(row["mean"])
        assert np.isnan(row["sd"])
        assert row["completed"] == 0

    def test_marks_are_the_best_and_those_the_test_cannot_tell_from_it(self):
        cells = {("d", "A"): LOW, ("d", "B"): HIGH, ("d", "C"): spread(0.899, 3), ("d", "D"): list(HIGH)}
        table = tabulate(trials(cells), settings_for()).set_index("method")
        assert table["best"].to_dict() == {"A": False, "B": True, "C": False, "D": True}
        assert table["not_worse"].to_dict() == {"A": False, "B": True, "C": True, "D": True}

    def test_where_small_is_good_the_smallest_is_best(self):
        table = tabulate(
            trials({("d", "A"): LOW, ("d", "B"): HIGH, ("d", "C"): spread(0.501, 5)}),
            settings_for(scores=LOSSES),
        ).set_index("method")
        assert table["best"].to_dict() == {"A": True, "B": False, "C": False}
        assert table["not_worse"].to_dict() == {"A": True, "B": False, "C": True}

    def test_each_dataset_has_its_own_best(self):
        cells = {("d", "A"): LOW, ("d", "B"): HIGH, ("e", "A"): HIGH, ("e", "B"): LOW}
        table = tabulate(trials(cells), settings_for())
        best = table.loc[table["best"], ["dataset", "method"]].to_numpy().tolist()
        assert best == [["d", "B"], ["e", "A"]]

    def test_the_order_of_rows_does_not_matter(self):
        frame = trials({("d", "A"): HIGH, ("d", "B"): spread(0.895, 9)})
        shuffled = frame.sample(frac=1, random_state=0)
        one = tabulate(frame, settings_for()).set_index("method")
        other = tabulate(shuffled, settings_for()).set_index("method").loc[one.index]
        pd.testing.assert_frame_equal(one, other, check_exact=False)
        tests = [compare_with_reference(f, settings_for()).iloc[0] for f in (frame, shuffled)]
        assert tests[0]["p_value"] == pytest.approx(tests[1]["p_value"], rel=1e-12)

    def test_no_trials_give_an_empty_table(self):
        empty = trials({("d", "A"): HIGH}).iloc[:0]
        assert len(tabulate(empty, settings_for())) == 0
        assert len(summary_of(empty, settings_for())) == 0


class TestCompare:
    def test_the_test_is_the_one_chosen(self):
        second = spread(0.89, 3)
        cells = results_by_cell(trials({("d", "A"): HIGH, ("d", "B"): second}), "accuracy")
        corrected, plain = (
            compare(cells["d", "A"], cells["d", "B"], settings_for(test=name)) for name in ("corrected-t", "paired-t")
        )
        assert corrected == corrected_t_test(HIGH, second, 0.25)
        assert plain == corrected_t_test(HIGH, second, 0.0)
        assert plain.p_value < corrected.p_value

    def test_verdicts_are_the_references(self):
        cells = {("d", "A"): HIGH, ("d", "B"): LOW, ("e", "A"): LOW, ("e", "B"): HIGH, ("f", "A"): LOW, ("f", "B"): LOW}
        found = compare_with_reference(trials(cells), settings_for())
        assert found.set_index("dataset")["verdict"].to_dict() == {"d": "win", "e": "loss", "f": "tie"}
        assert found["method"].unique().tolist() == ["B"]
        assert found.set_index("dataset")["difference"].to_dict() == pytest.approx({"d": 0.4, "e": -0.4, "f": 0.0})

    def test_where_small_is_good_the_verdict_turns_and_the_difference_does_not(self):
        found = compare_with_reference(trials({("d", "A"): HIGH, ("d", "B"): LOW}), settings_for(scores=LOSSES)).iloc[0]
        assert found["verdict"] == "loss"
        assert found["difference"] == pytest.approx(0.4)
        assert found["low"] < 0.4 < found["high"]

    def test_a_dataset_where_either_is_incomplete_is_not_compared(self):
        for missing in ["A", "B"]:
            for hole in [None, ..., np.nan]:
                cells = {("d", "A"): list(HIGH), ("d", "B"): list(LOW), ("e", "A"): HIGH, ("e", "B"): LOW}
                cells["d", missing][2] = hole
                found = compare_with_reference(trials(cells), settings_for())
                assert found["dataset"].tolist() == ["e"]
                table = tabulate(trials(cells), settings_for()).set_index(["dataset", "method"])
                assert not table.loc[("d", missing), "complete"] and table.loc[("e", missing), "complete"]

    def test_an_unknown_reference_is_answered_with_the_known_ones(self):
        with pytest.raises(UnknownNameError, match="unknown method 'Z' of this run: choose from A"):
            compare_with_reference(trials({("d", "A"): HIGH}), settings_for("Z"))

    def test_without_a_reference_there_are_no_verdicts(self):
        assert len(compare_with_reference(trials({("d", "A"): HIGH, ("d", "B"): LOW}), settings_for(None))) == 0

    FOLD_SCORES = st.lists(st.sampled_from([0.4, 0.5, 0.6, 0.9]), min_size=FOLDS, max_size=FOLDS)

    @settings(deadline=None, max_examples=40)
    @given(st.lists(st.tuples(FOLD_SCORES, FOLD_SCORES), min_size=1, max_size=3))
    def test_wins_of_one_are_losses_of_the_other(self, pairs):
        cells = {
            (f"d{i}", name): scores for i, pair in enumerate(pairs) for name, scores in zip("AB", pair, strict=True)
        }
        frame = trials(cells)
        forward = summary_of(frame, settings_for("A")).set_index("method").loc["B"]
        backward = summary_of(frame, settings_for("B")).set_index("method").loc["A"]
        assert (forward["win"], forward["tie"], forward["loss"]) == (backward["loss"], backward["tie"], backward["win"])
        assert forward["win"] + forward["tie"] + forward["loss"] == len(pairs)

    @settings(deadline=None, max_examples=20)
    @given(st.lists(FOLD_SCORES, min_size=1, max_size=3))
    def test_a_method_against_its_copy_has_ties_alone(self, scores):
        cells = {(f"d{i}", name): values for i, values in enumerate(scores) for name in "AB"}
        row = summary_of(trials(cells), settings_for()).set_index("method").loc["B"]
        assert (row["win"], row["tie"], row["loss"]) == (0, len(scores), 0)
        assert row["rank"] == 1.5


class TestNoVerdict:
    def ahead(self, folds=5):
        base = spread(0.5, 2)[:folds]
        return {("d", "A"): [score + 0.1 for score in base], ("d", "B"): base}

    @pytest.mark.parametrize("test", ["corrected-t", "paired-t", "bayes-t"])
    def test_equal_differences_are_neither_win_nor_tie_nor_loss(self, test):
        frame = trials(self.ahead())
        found = compare_with_reference(frame, settings_for(test=test)).iloc[0]
        assert (found["verdict"], found["published"], found["sound"]) == ("no verdict",) * 3
        assert found["reason"] == "all differences are equal"
        assert found["difference"] == pytest.approx(0.1)
        assert found[["p_value", "low", "high", "better", "detectable"]].isna().all()
        row = summary_of(frame, settings_for(test=test)).set_index("method").loc["B"]
        for prefix in ("", "published_", "sound_"):
            assert row[[f"{prefix}{name}" for name in ("win", "tie", "loss", "no_verdict")]].tolist() == [0, 0, 0, 1]
        marks = tabulate(frame, settings_for(test=test)).set_index("method").loc["B"]
        assert not marks["not_worse"] and np.isnan(marks["p_best"])

    def test_four_folds_decide_nothing(self):
        cells = {("d", "A"): HIGH[:4], ("d", "B"): LOW[:4]}
        found = compare_with_reference(trials(cells), settings_for()).iloc[0]
        assert (found["verdict"], found["reason"]) == ("no verdict", "fewer than 5 pairs")

    def test_identical_scores_are_a_tie_without_evidence(self):
        found = compare_with_reference(trials({("d", "A"): HIGH, ("d", "B"): HIGH}), settings_for()).iloc[0]
        assert (found["verdict"], found["published"], found["reason"]) == ("tie", "tie", "identical scores")
        assert found["p_value"] == 1.0 and np.isnan(found["detectable"])


def test_every_comparison_carries_the_difference_that_it_could_have_seen():
    cells = {("d", "A"): HIGH, ("d", "B"): LOW}
    found = compare_with_reference(trials(cells), settings_for(test="wilcoxon", alpha=0.01)).iloc[0]
    assert found["detectable"] == pytest.approx(corrected_t_test(HIGH, LOW, 0.25, 0.01).detectable)
    turned = compare_with_reference(trials(cells), settings_for(scores=LOSSES)).iloc[0]
    assert turned["detectable"] == pytest.approx(corrected_t_test(HIGH, LOW, 0.25).detectable)


class TestSummarise:
    def test_best_rank_comes_first_with_means_over_common_datasets(self):
        cells = {
            ("d", "A"): LOW, ("d", "B"): HIGH, ("d", "C"): spread(0.7, 7),
            ("e", "A"): LOW, ("e", "B"): HIGH, ("e", "C"): [None] * FOLDS,
        }  # fmt: skip
        table = summary_of(trials(cells), settings_for())
        assert table["method"].tolist() == ["B", "C", "A"]
        assert table["rank"].tolist() == [1.0, 2.0, 3.0]
        assert table["mean"].tolist() == pytest.approx([0.9, 0.7, 0.5])

    def test_a_method_that_completed_nothing_takes_no_ranks_away(self):
        cells = {("d", "A"): LOW, ("d", "B"): HIGH, ("d", "C"): [None] * FOLDS}
        table = summary_of(trials(cells), settings_for()).set_index("method")
        assert table["rank"].drop("C").to_dict() == {"A": 2.0, "B": 1.0}
        assert np.isnan(table.loc["C", "rank"])
        assert np.isnan(table.loc["C", "mean"])
        assert (table.loc["C", "failed"], table.loc["C", "planned"]) == (5, 5)
        assert table.loc["C", ["win", "tie", "loss"]].sum() == 0

    def test_an_incomplete_dataset_is_neither_ranked_nor_averaged(self):
        cells = {
            ("d", "A"): LOW, ("d", "B"): HIGH, ("e", "A"): [0.99] * 4 + [None], ("e", "B"): LOW,
        }  # fmt: skip
        table = summary_of(trials(cells), settings_for()).set_index("method")
        assert table["mean"].to_dict() == pytest.approx({"A": 0.5, "B": 0.9})
        assert table["rank"].to_dict() == {"A": 2.0, "B": 1.0}

    def test_where_nothing_is_complete_nothing_is_ranked(self):
        for hole in (None, ...):
            table = summary_of(trials({("d", "A"): [hole] * 5, ("d", "B"): [hole] * 5}), settings_for())
            assert table["rank"].isna().all()
            assert table["mean"].isna().all()
            assert table["failed"].tolist() == ([5, 5] if hole is None else [0, 0])

    def test_where_small_is_good_the_smallest_ranks_first(self):
        frame = trials({("d", "A"): LOW, ("d", "B"): HIGH})
        assert summary_of(frame, settings_for(scores=LOSSES))["method"].tolist() == ["A", "B"]

    def test_times_are_summed_over_all_trials_and_memory_is_the_largest(self):
        cells = {("d", "A"): HIGH, ("e", "A"): [0.5, 0.5, None, 0.5, ...]}
        row = summary_of(trials(cells), settings_for()).iloc[0]
        assert row["fit_seconds"] == 2.0 * 8
        assert row["select_seconds"] == 1.0 * 8
        assert row["predict_seconds"] == 4.0 * 8
        assert row["tune_seconds"] == 0.5 * 8
        # The one that failed has no such parts, but its second was spent all the same.
        assert row["total_seconds"] == 7.5 * 8 + 1.0
        assert row["peak_memory"] == 104
        assert (row["failed"], row["planned"]) == (1, 10)


class TestSettings:
    def test_a_metric_brings_its_direction(self):
        changed = settings_for().replace(metric="log_loss")
        assert (changed.metric, changed.greater_is_better) == ("log_loss", False)
        assert changed.replace(metric="mcc").greater_is_better

    def test_other_settings_stay(self):
        changed = settings_for().replace(alpha=0.01)
        assert (changed.alpha, changed.reference, changed.ratio) == (0.01, "A", 0.25)

    @pytest.mark.parametrize(
        ("changes", "part"), [({"metric": "acc"}, "unknown metric"), ({"test": "t"}, "unknown test")]
    )
    def test_unknown_words_are_answered_with_the_known_ones(self, changes, part):
        with pytest.raises(UnknownNameError, match=part):
            settings_for().replace(**changes)
