"""The answer in two sentences: every case of who is ahead, and from whom that is significant."""

import numpy as np
import pandas as pd
import pytest

from mfbench.report.heading import TEST, answer_across, listed
from mfbench.stats.across_datasets import Overall, complete

BY = f"({TEST}, α = 0.05)."
ALTERNATING = np.resize([0.01, -0.01], 16)
NEAR = 0.01 * np.resize([-1, 1, 1, 1, -1, 1, -1, 1], 16)


def answer(columns, n=16, greater=True, alpha=0.05):
    """The answer on n datasets; a column is what a method lacks to a base score: one number, or one per dataset."""
    base = np.linspace(0.7, 0.9, n)
    means = pd.DataFrame({name: base - np.asarray(lack) for name, lack in columns.items()})
    means.index = [f"d{i}" for i in range(n)]
    return answer_across(Overall(complete(means, "drop-dataset", greater_is_better=greater), greater, "A", alpha))


def clear(size, n=16):
    """A lack on every dataset, of a different size on each."""
    return size + 0.001 * np.arange(n)


def test_one_other_method_that_is_worse_is_named():
    assert answer({"A": 0, "B": clear(0.1)}) == [
        "A has the best average rank, 1.00, over 16 datasets.",
        f"B is significantly worse {BY}",
    ]


def test_all_others_are_worse():
    assert answer({"C": clear(0.2), "A": 0, "B": clear(0.1)})[1] == f"All other methods are significantly worse {BY}"


def test_no_other_is_worse():
    assert answer({"A": 0, "B": NEAR, "C": 3 * NEAR})[1] == f"No other method is significantly worse {BY}"


def test_similar_and_worse_methods_are_named():
    first, second = answer({"worst": clear(0.1), "A": 0, "similar": NEAR})
    assert first == "A has the best average rank, 1.38, over 16 datasets."
    assert second == f"Not significantly different from it: similar; worst is significantly worse {BY}"


def test_two_worse_methods_take_the_plural():
    columns = {"A": 0, "near": NEAR, "B": clear(0.1), "C": clear(0.2)}
    assert answer(columns)[1].endswith(f"near; B and C are significantly worse {BY}")


def test_many_worse_methods_are_counted():
    columns = {"A": 0, "near": NEAR}
    columns |= {f"m{i}": clear(0.1 * i) for i in range(1, 5)}
    assert answer(columns)[1] == (
        f"Not significantly different from it: near; the other 4 methods are significantly worse {BY}"
    )


def test_where_less_is_better_the_smallest_leads():
    assert answer({"A": 0, "B": -clear(0.1)}, greater=False)[0].startswith("A has the best average rank, 1.00")


def test_methods_that_share_the_best_rank_are_all_named():
    first, second = answer({"A": 0, "B": ALTERNATING, "C": clear(0.1)})
    assert first == "A and B share the best average rank, 1.50, over 16 datasets."
    assert second == f"Not significantly different from A: B; C is significantly worse {BY}"


def test_equal_methods_are_not_too_few_datasets():
    first, second = answer({"A": 0, "B": 0})
    assert first == "A and B share the best average rank, 1.50, over 16 datasets."
    assert second == f"No other method is significantly worse {BY}"


def test_a_constant_lead_is_significant():
    assert answer({"A": 0, "B": 0.1})[1] == f"B is significantly worse {BY}"


@pytest.mark.parametrize(("n", "decided"), [(5, False), (6, True)])
def test_five_datasets_are_too_few_for_two_methods_and_six_suffice(n, decided):
    second = answer({"A": 0, "B": clear(0.1, n)}, n)[1]
    assert second == (
        f"B is significantly worse {BY}"
        if decided
        else f"5 datasets are too few for any difference to be significant {BY}"
    )


def test_more_methods_need_more_datasets():
    assert answer({"A": 0, "B": clear(0.1, 6), "C": clear(0.2, 6)}, 6)[1].startswith("6 datasets are too few")


def test_the_level_decides():
    assert answer({"A": 0, "B": clear(0.1, 5)}, 5, alpha=0.1)[1] == (f"B is significantly worse ({TEST}, α = 0.1).")


def test_one_dataset_says_nothing_about_others():
    assert answer({"A": 0, "B": 0.1}, 1) == [
        "A is ahead on the only dataset; a statement on other data needs at least two datasets."
    ]
    assert answer({"A": 0, "B": 0, "C": 0.1}, 1)[0].startswith("A and B share the lead on the only dataset; ")


def test_the_only_dataset_without_a_gap_is_not_the_only_dataset(small_run):
    assert answer_across(small_run.overall()) == [
        "A is ahead on the only dataset that every method completed; a statement on other data needs at least two "
        "datasets."
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_one_method_is_ahead_of_nobody(n):
    assert answer({"A": 0}, n) == ["A is the only method with scores, so there is nothing to compare."]


def test_without_a_dataset_that_all_methods_completed_nobody_leads():
    means = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, np.nan], "C": [np.nan, 0.5]}, index=["d", "e"])
    assert answer_across(Overall(complete(means, "drop-dataset"), True, "A")) == [
        "No dataset has a score of every method, so none is ahead."
    ]


def test_names_are_listed():
    for n, expected in [(1, "a"), (2, "a and b"), (6, "a, b, c, d, e and f"), (7, "a, b, c, d, e, f and 1 more")]:
        assert listed(list("abcdefg"[:n])) == expected


def test_a_run_gives_the_same_answer_as_its_scores(write_run):
    run = write_run({(f"d{i}", m): [mean] * 5 for i in range(7) for m, mean in (("A", 0.9 - 0.01 * i), ("B", 0.5))})
    assert answer_across(run.overall())[0] == "A has the best average rank, 1.00, over 7 datasets."
