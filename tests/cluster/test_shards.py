"""Shards of a plan: its trials with their keys, seeds and positions, each in exactly one; groups are undivided."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.api import Request, prepare_suite
from mfbench.errors import UsageError
from mfbench.model.trials import Trial
from mfbench.run.workers.trial_queue import fit_groups
from mfbench.suite.plan import digest_of
from mfbench_cluster.batch.slurm import balanced, divide, shard_of


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


def test_all_shards_together_are_the_plan(subtests, prepared):
    for of in [1, 2, 3, 5, 9, 40]:
        with subtests.test(of=of):
            plan, folder, registry = prepared
            shards = [shard_of(plan, number, of, folder.name, registry) for number in range(1, of + 1)]
            rows = sorted(row for shard in shards for row in zip(shard.shard.positions, shard.trials, strict=True))
            assert rows == list(enumerate(plan.trials))
            assert {shard.shard.digest for shard in shards} == {digest_of(trial.key for trial in plan.trials)}
            assert all(shard.datasets is plan.datasets and shard.methods is plan.methods for shard in shards)
            group_of = fit_groups(plan, registry)
            homes = [{group_of(trial) for trial in shard.trials} - {None} for shard in shards]
            assert sum(map(len, homes)) == len(set().union(*homes)), "a group is divided"


def test_a_shard_has_a_folder_of_its_own(tmp_path, prepared):
    plan, folder, registry = prepared
    path = str(tmp_path / "own.toml")
    part, own, _ = prepare_suite(Request(path, out=tmp_path / "out", shard="2/3"), registry=registry)
    assert own == folder.with_name(f"{folder.name}-shard-2-of-3")
    assert set(part.trials) < set(plan.trials)
    with pytest.raises(UsageError, match="is not a shard"):
        prepare_suite(Request("no-such-suite", shard="0/3"))  # which is noticed before anything is looked up


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
