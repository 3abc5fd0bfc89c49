"""The answer in a sentence on these datasets and one on datasets like these, for every kind of run."""

import numpy as np
import pandas as pd
import pytest
from toy_metrics import SCORES

from mfbench.model.evaluation import Score
from mfbench.report.answer import answer_across
from mfbench.report.contents import answer_of
from mfbench.report.heading import listed
from mfbench.stats.across_datasets import Overall, complete
from mfbench.stats.mean_differences import Error

LOSS = Score(greater_is_better=False, percent=False, in_units=True)
LEVEL = "(family-wise level 5 %, differences capped at 10 percentage points)"
ALTERNATING = np.resize([0.02, -0.02], 16)


def answer(columns, n=16, error=0.002, score=SCORES["accuracy"], reference="A", **changes):
    """The answer on n datasets; a column is what a method lacks to a base score: one number, or one per dataset."""
    base = np.linspace(0.7, 0.9, n)
    means = pd.DataFrame({name: base - np.asarray(lack)[..., :n] for name, lack in columns.items()})
    means.index = [f"d{i:02}" for i in range(n)]
    completed = complete(means, "drop-dataset", greater_is_better=score.greater_is_better)
    same = Error(error**2 * (1 - np.eye(len(columns))), 4.0)  # of every pair on every dataset
    known = {"errors": dict.fromkeys(means.index, same), "cap": 0.1}
    overall = Overall(completed, score.greater_is_better, reference, **known | changes)
    return answer_across(overall, score)


def varied(size):
    """A lack of a different size on each dataset."""
    return size + 0.001 * np.arange(16)


def test_one_method_is_better_than_the_other():
    assert answer({"A": np.zeros(16), "B": varied(0.05)}) == [
        "On these 16 datasets, A is better on average than B, by more than 1 percentage point.",
        f"On datasets like these, A is better than B {LEVEL}.",
    ]


def test_one_method_is_better_than_all_others():
    first, second = answer({"C": varied(0.05), "A": np.zeros(16), "B": varied(0.002)}, error=0.006)
    assert first == (
        "On these 16 datasets, A is better on average than both other methods, one of them by more than 1 percentage "
        "point."
    )
    assert second == f"On datasets like these, A is better than B and C {LEVEL}."


def test_nothing_is_separated():
    assert answer({"A": np.zeros(16), "B": ALTERNATING, "C": -ALTERNATING}, error=0.02) == [
        "On these 16 datasets, A, B and C share the best mean, 80.0 %.",
        f"On datasets like these, A is not separated from any other method {LEVEL}.",
    ]
    first, second = answer({"A": np.zeros(16), "B": 0.001 + ALTERNATING}, error=0.04)
    assert first == "On these 16 datasets, A has the best mean, 80.0 %; B is not separated from it."
    assert second == f"On datasets like these, A is not separated from B {LEVEL}."


def test_some_methods_are_separated_here_and_fewer_elsewhere():
    columns = {"A": np.zeros(16), "near": 0.001 + ALTERNATING, "uneven": 0.03 + 3 * ALTERNATING, "far": varied(0.08)}
    first, second = answer(columns, error=0.04)
    assert first == (
        "On these 16 datasets, A is better on average than uneven and far, one of them by more than 1 percentage "
        "point; not separated: near."
    )
    assert second == f"On datasets like these, A is better than far, with 2 comparisons open {LEVEL}."


def test_many_methods_are_counted():
    columns = {"A": np.zeros(16), **{f"m{i:02}": varied(0.004 * i) for i in range(1, 15)}}
    first, second = answer(columns, error=0.03)
    assert first == (
        "On these 16 datasets, A is better on average than 10 of 14 methods, 7 of them by more than 1 percentage "
        "point; not separated: m01, m02, m03 and m04."
    )
    assert "m08 and 6 more" in second


def test_methods_that_differ_by_less_than_the_margin_are_equal():
    first, _ = answer({"A": np.zeros(16), "B": 0.0001 * varied(1.0), "C": varied(0.05)}, error=0.004)
    assert first.endswith("not separated: B; equal within 1 percentage point: B.")


def test_where_less_is_better_the_smallest_leads_in_units_of_the_target():
    first, second = answer({"A": np.zeros(16), "B": -varied(0.05)}, score=LOSS, rope=0.01)
    margin = "0.01 standard deviations of the target"
    assert first == f"On these 16 datasets, A is better on average than B, by more than {margin}."
    assert "differences capped at 0.1 standard deviations of the target" in second


def test_the_reference_has_a_sentence_if_it_is_not_the_best():
    columns = {"A": varied(0.02), "B": varied(0.08), "best": np.zeros(16)}
    *_, last = answer(columns)
    assert last == "There, the reference A is better than B and worse than best."
    *_, last = answer(columns, chosen=True)
    assert last.startswith("On datasets like these")


def test_a_reference_that_is_the_best_is_compared_with_the_others_only():
    rng = np.random.default_rng(0)
    columns = {"A": np.zeros(16), **{f"m{i}": 0.016 + rng.normal(0, 0.02, 16) for i in range(8)}}
    named, chosen = answer(columns)[1], answer(columns, chosen=True)[1]
    better = "On datasets like these, A is better than"
    assert named == f"{better} m1, m3, m5, m7, m4 and m2, with 2 comparisons open {LEVEL}."
    assert chosen == f"{better} m7, m4 and m2, with 5 comparisons open {LEVEL}."


@pytest.mark.parametrize("n", [2, 5])
def test_few_datasets_say_nothing_about_others(n):
    first, second = answer({"A": np.zeros(16), "B": varied(0.05)}, n)
    assert first == f"On these {n} datasets, A is better on average than B, by more than 1 percentage point."
    assert second == f"{n} datasets cannot support a statement about other datasets: it takes 6."


def test_related_datasets_and_a_strict_level_take_more():
    columns, families = {"A": np.zeros(16), "B": varied(0.05)}, {"d00": "one", "d01": "one", "d02": "one"}
    assert answer(columns, 7, families=families)[1] == (
        "7 datasets of 5 families cannot support a statement about other datasets: it takes 6."
    )
    assert answer(columns, 6, alpha=0.01)[1] == (
        "6 datasets cannot support a statement about other datasets: α = 0.01 takes more."
    )


def test_one_dataset():
    assert answer({"A": np.zeros(16), "B": varied(0.05)}, 1) == [
        "On the only dataset, A is better than B, by more than 1 percentage point.",
        "1 dataset cannot support a statement about other datasets: it takes 6.",
    ]


def test_means_without_folds():
    first, second = answer({"A": np.zeros(16), "B": varied(0.05)}, errors={})
    assert first == ("On these 16 datasets, A has the best mean, 80.0 %; there are no folds that allow a test.")
    assert second == f"On datasets like these, A is better than B {LEVEL}."


def test_the_only_dataset_without_a_gap_is_not_the_only_dataset(small_run):
    first, second = answer_of(small_run)
    assert first.startswith("On the only complete dataset, A ")
    assert second.startswith("1 dataset cannot support")


@pytest.mark.parametrize("n", [1, 3])
def test_one_method_is_ahead_of_nobody(n):
    assert answer({"A": np.zeros(16)}, n) == ["A is the only method with scores, so there is nothing to compare."]


def test_without_a_dataset_that_all_methods_completed_nobody_leads():
    means = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, np.nan], "C": [np.nan, 0.5]}, index=["d", "e"])
    assert answer_across(Overall(complete(means, "drop-dataset"), True, "A"), SCORES["accuracy"]) == [
        "No dataset has a score of every method, so none is ahead."
    ]


def test_names_are_listed():
    for n, expected in [(1, "a"), (2, "a and b"), (6, "a, b, c, d, e and f"), (7, "a, b, c, d, e, f and 1 more")]:
        assert listed(list("abcdefg"[:n])) == expected


def test_a_run_has_the_errors_of_its_folds(write_run):
    rng = np.random.default_rng(0)
    scores = {
        (f"d{i}", m): (mean + rng.normal(0, 0.01, 5)).round(3).tolist()
        for i in range(7)
        for m, mean in (("A", 0.9 - 0.01 * i), ("B", 0.7))
    }
    assert answer_of(write_run(scores)) == [
        "On these 7 datasets, A is better on average than B, by more than 1 percentage point.",
        f"On datasets like these, A is better than B {LEVEL}.",
    ]


def test_a_run_under_way_says_how_much_is_done(write_run):
    scores = {
        (f"d{i}", m): [mean, mean + 0.01, mean, mean, mean - 0.01]
        for i in range(7)
        for m, mean in (("A", 0.9), ("B", 0.5))
    }
    scores["d6", "B"] = [0.5, 0.5, None, None, None]
    assert answer_of(write_run(scores))[0].startswith("So far, with 67 of 70 trials: on these 6 datasets, ")
