"""All datasets together: the numbers of a published table, and both directions of a score."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mfbench.stats.across_datasets import Overall, complete

PUBLISHED = Path(__file__).parents[3] / "suites" / "published"


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
