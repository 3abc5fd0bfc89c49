"""Shares of a plan: every trial in exactly one, groups undivided, nearly equal costs, the same on every machine."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.errors import UsageError
from mfbench.model.trials import Trial
from mfbench.suite.shares import Share, balanced, digest_of, divide, groups_of, parse_shard


def trials_of(n_datasets=3, n_folds=4, methods="ABCD"):
    return [
        Trial(f"{dataset}/{fold}/{method}", f"d{dataset}", method, 0, fold, 1)
        for dataset in range(n_datasets)
        for fold in range(n_folds)
        for method in methods
    ]


def group_of(trial):
    """A and B share a selector; the others have none."""
    return (trial.dataset, trial.fold) if trial.method in "AB" else None


def weigh(trial):
    return (1 + int(trial.dataset[1:])) * (5.0 if trial.method == "A" else 1.0)


def test_what_is_not_a_shard_is_one_sentence():
    for text in ["0/3", "4/3", "a/b", "3", "", "1/0", "-1/3", "1/3/5", " 1/3", "1/1e3", "²/3", "1/9999999"]:
        with pytest.raises(UsageError, match="is not a shard: write its number and how many there are, such as 1/"):
            parse_shard(text)


def test_the_first_and_the_last_shard():
    assert parse_shard("1/1") == (1, 1) and parse_shard("10/10") == (10, 10)


@given(st.lists(st.floats(0, 1e6), max_size=40), st.integers(1, 60))
def test_each_item_is_in_one_part(costs, number):
    parts = balanced(costs, number)
    assert len(parts) == number
    assert sorted(item for part in parts for item in part) == list(range(len(costs)))


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=60), st.integers(1, 8))
def test_the_parts_are_balanced_up_to_one_item(costs, number):
    loads = [math.fsum(costs[item] for item in part) for part in balanced(costs, number)]
    # Graham: longest first is within 4/3 of the best, which is at least the mean and the longest item.
    assert max(loads) <= math.fsum(costs) / number + max(costs) + 1e-9
    assert max(loads) - min(loads) <= max(costs) + 1e-9


def test_items_without_cost_are_spread():
    assert [len(part) for part in balanced([0.0] * 10, 5)] == [2] * 5


@given(st.integers(1, 40))
def test_shares_are_the_plan_and_divide_no_group(number):
    trials = trials_of()
    shares = divide(trials, number, group_of, weigh)
    assert sorted(position for share in shares for position in share) == list(range(len(trials)))
    assert all(list(share) == sorted(share) for share in shares)
    homes = {}
    for place, share in enumerate(shares):
        for position in share:
            key = group_of(trials[position])
            assert key is None or homes.setdefault(key, place) == place


def test_only_some_positions_are_divided():
    trials = trials_of()
    chosen = range(5, 30)
    shares = divide(trials, 4, group_of, weigh, chosen)
    assert sorted(position for share in shares for position in share) == list(chosen)


def test_more_shares_than_groups_leave_some_empty():
    trials = trials_of(1, 1, "AB")
    assert divide(trials, 3, group_of, weigh) == [(0, 1), (), ()]


def test_a_difference_in_the_last_digit_of_a_cost_changes_nothing():
    trials = trials_of()
    exact = divide(trials, 5, group_of, weigh)
    assert exact == divide(trials, 5, group_of, lambda trial: math.nextafter(weigh(trial), math.inf))


def test_groups_keep_the_order_of_their_first_trials():
    trials = trials_of(1, 2, "CAB")
    assert groups_of(trials, group_of) == [[0], [1, 2], [3], [4, 5]]


def test_the_digest_is_that_of_keys_and_their_order():
    assert len({digest_of(keys) for keys in (["a", "b"], ["b", "a"], ["ab"], ["a"], [])}) == 5


def test_the_folder_of_a_share_is_named_after_the_run():
    share = Share("shard", 3, 10, "quick-1a2b3c4d", "0", 100, ())
    assert share.folder_name == "quick-1a2b3c4d-shard-3-of-10"
