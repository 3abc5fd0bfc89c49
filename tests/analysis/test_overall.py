"""All datasets together: the numbers of a published table, directions, and what becomes of missing cells."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss

from mfbench.analysis.missing import complete, dummy_score
from mfbench.analysis.overall import Overall
from mfbench.analysis.profiles import performance_profile, performance_ratios

PUBLISHED = Path(__file__).parents[2] / "suites" / "published"


def published(number):
    table = pd.read_csv(PUBLISHED / f"immigrate2020_table{number}.csv")
    return (table.pivot(index="dataset", columns="method", values="value") / 100).round(6)


def overall(means, reference, greater=True, **changes):
    return Overall(complete(means, "drop-dataset", greater_is_better=greater), greater, reference, **changes)


@pytest.fixture(scope="module")
def second():
    return overall(published(2), "IGT")


class TestPublishedTables:
    """Accuracies as printed in the paper on Immigrate (Entropy 22, 2020), analysed once with SciPy and baycomp."""

    def test_friedman_and_iman_davenport(self, second):
        found = second.friedman
        assert (found.n_datasets, found.n_methods) == (20, 18)
        assert f"{found.chi2:.1f}" == "146.7"
        assert f"{found.f:.2f}" == "14.42"
        assert f"{found.f_p_value:.1e}" == "1.5e-30"

    def test_nemenyi_does_not_separate_seven_from_the_best(self, second):
        assert f"{second.critical_difference:.2f}" == "5.89"
        first, last = second.groups[0]
        assert first == 0
        assert set(second.ranks.index[1 : last + 1]) == {"hIN", "LMN", "SV2", "LAS", "SOD", "LDA", "3NN"}

    def test_wilcoxon_with_holm_separates_all(self, second):
        table = second.against_reference
        assert len(table) == 17
        assert (table["holm"].round(3) <= 0.004).all()
        assert (table["effect"] > 0).all()

    def test_the_boosted_method_against_the_forest(self):
        row = overall(published(3), "BIM", rope=0.01).against_reference.set_index("second").loc["RF"]
        assert f"{100 * row['mean']:+.2f}" == "+1.09"
        assert f"{row['p_value']:.3f}" == "0.017"
        assert row[["better", "equal", "worse"]].tolist() == pytest.approx([0.50, 0.50, 0.00], abs=0.01)


class TestDirections:
    MEANS = pd.DataFrame(np.random.default_rng(0).normal(0.8, 0.05, (12, 3)), columns=["A", "B", "C"])

    def test_where_small_is_good_everything_turns_but_the_differences(self):
        up, down = overall(self.MEANS, "A"), overall(1 - self.MEANS, "A", greater=False)
        assert up.ranks.to_dict() == pytest.approx(down.ranks.to_dict())
        one, other = (found.against_reference.set_index("second") for found in (up, down))
        for column in ("effect", "p_value", "better", "equal", "worse"):
            assert one[column].to_dict() == pytest.approx(other[column].to_dict(), abs=1e-9)
        for column, mirrored in (("mean", "mean"), ("difference", "difference"), ("low", "high")):
            assert one[column].to_dict() == pytest.approx((-other[mirrored]).to_dict())
        pd.testing.assert_frame_equal(up.wins, down.wins)

    def test_exchanging_reference_and_method_mirrors_the_row(self):
        two = self.MEANS[["A", "B"]]
        one, other = (overall(two, name).against_reference.iloc[0] for name in "AB")
        assert one["mean"] == pytest.approx(-other["mean"])
        assert one["p_value"] == other["p_value"]
        assert (one["better"], one["worse"]) == pytest.approx((other["worse"], other["better"]), abs=1e-12)

    def test_all_pairs_are_adjusted_together(self):
        found = overall(self.MEANS, "A").pairs
        assert len(found) == 3
        assert (found["holm"] >= found["p_value"]).all()

    @pytest.mark.parametrize("means", [MEANS.iloc[:1], MEANS[["A"]], MEANS.iloc[:0]], ids=["dataset", "method", "none"])
    def test_too_little_to_test(self, means):
        found = overall(means, "A")
        assert not found.testable
        assert found.friedman is None
        assert len(found.against_reference) == len(found.pairs) == 0

    def test_two_methods_have_no_friedman_but_a_comparison(self):
        found = overall(self.MEANS[["A", "B"]], "A")
        assert found.friedman is None
        assert len(found.against_reference) == 1

    def test_a_reference_without_scores_compares_nothing(self):
        assert len(overall(self.MEANS, "Z").against_reference) == 0


HOLE = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.7, np.nan, 0.6], "C": [0.8, 0.6, 0.9]}, index=list("def"))


class TestMissing:
    def test_dropped(self):
        found = complete(HOLE, "drop-dataset")
        assert found.dropped == ["e"]
        assert list(found.scores.index) == list(found.ranks.index) == ["d", "f"]
        assert found.filled == 0

    def test_last_rank_and_worst_score(self):
        found = complete(HOLE, "worst-rank")
        assert found.ranks.loc["e"].tolist() == [1.0, 3.0, 2.0]
        assert found.scores.loc["e"].tolist() == [0.8, 0.6, 0.6]
        assert (found.filled, found.dropped, found.absent) == (1, [], [])

    def test_last_rank_where_small_is_good(self):
        found = complete(HOLE, "worst-rank", greater_is_better=False)
        assert found.ranks.loc["e"].tolist() == [2.0, 3.0, 1.0]
        assert found.scores.loc["e", "B"] == 0.8

    def test_a_constant_guess(self):
        found = complete(HOLE, "impute-dummy", dummies={"d": 0.1, "e": 0.7, "f": 0.1})
        assert found.scores.loc["e", "B"] == 0.7
        assert found.ranks.loc["e"].tolist() == [1.0, 2.0, 3.0]
        assert found.filled == 1

    @pytest.mark.parametrize("policy", ["worst-rank", "impute-dummy"])
    def test_what_has_not_run_is_no_failure(self, policy):
        ended = HOLE.notna()
        found = complete(HOLE, policy, ended=ended, dummies=dict.fromkeys("def", 0.5))
        assert found.dropped == ["e"]
        assert found.filled == 0

    def test_a_method_without_any_score(self):
        table = HOLE.assign(B=np.nan)
        assert complete(table, "drop-dataset").absent == ["B"]
        assert list(complete(table, "drop-dataset").scores.columns) == ["A", "C"]
        assert complete(table, "worst-rank").ranks["B"].tolist() == [3.0, 3.0, 3.0]

    @pytest.mark.parametrize("policy", ["drop-dataset", "worst-rank", "impute-dummy"])
    def test_a_dataset_without_any_score_is_dropped(self, policy):
        table = HOLE.copy()
        table.loc["e"] = np.nan
        assert complete(table, policy, dummies=dict.fromkeys("def", 0.5)).dropped == ["e"]

    def test_the_guess_is_scikit_learns_dummy(self):
        y = np.random.default_rng(0).choice([0, 0, 1, 2], 60)
        dummy = DummyClassifier(strategy="prior").fit(np.zeros((60, 1)), y)
        predicted, shares = dummy.predict(np.zeros((60, 1))), dummy.predict_proba(np.zeros((60, 1)))
        assert dummy_score(y, "accuracy") == pytest.approx(np.mean(predicted == y))
        assert dummy_score(y, "balanced_accuracy") == pytest.approx(balanced_accuracy_score(y, predicted))
        assert dummy_score(y, "log_loss") == pytest.approx(log_loss(y, shares))
        assert dummy_score(y, "roc_auc") == 0.5


class TestProfiles:
    COSTS = pd.DataFrame({"A": [1.0, 4.0, 2.0], "B": [2.0, 1.0, np.nan], "C": [10.0, 2.0, 2.0]})

    def test_shares_by_counting(self):
        ratios = performance_ratios(self.COSTS)
        assert ratios["A"].tolist() == [1.0, 4.0, 1.0]
        assert ratios["B"].tolist() == [2.0, 1.0, np.inf]
        profile = performance_profile(ratios, (1.0, 2.0, 1e9))
        assert profile.loc["A"].tolist() == pytest.approx([2 / 3, 2 / 3, 1.0])
        assert profile.loc["B"].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])
        assert profile.loc["C"].tolist() == pytest.approx([1 / 3, 2 / 3, 1.0])

    def test_it_never_falls_and_a_scale_changes_nothing(self):
        costs = pd.DataFrame(np.random.default_rng(1).lognormal(size=(9, 4)))
        profile = performance_profile(performance_ratios(costs)).to_numpy()
        assert (np.diff(profile, axis=1) >= 0).all()
        scaled = performance_profile(performance_ratios(costs * 7)).to_numpy()
        np.testing.assert_array_equal(profile, scaled)

    def test_what_nobody_ended_and_nothing_at_all(self):
        table = pd.concat([self.COSTS, pd.DataFrame({"A": [np.nan], "B": [np.nan], "C": [np.nan]})])
        assert len(performance_ratios(table)) == 3
        assert performance_profile(performance_ratios(self.COSTS.iloc[:0])).isna().all(axis=None)

    def test_a_cost_of_zero_is_refused(self):
        with pytest.raises(ValueError, match="positive"):
            performance_ratios(pd.DataFrame({"A": [0.0], "B": [1.0]}))
