"""Batches: about a quarter of a second each, in order, groups that share a fit whole, long trials alone."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fake import METHODS, job_of, trials_of

from mfbench_cluster.pool.batches import MOST, Batches


def calls_of(batches):
    calls = []
    while (call := batches.next()) is not None:
        calls.append(call)
    return calls


@pytest.fixture
def job(tmp_path):
    return job_of(tmp_path)


def test_tiny_trials_go_together_and_long_ones_alone_in_order(job):
    trials = trials_of(100)
    seconds = {trial.key: 1.0 if trial.fold in (10, 11) else 0.0101 for trial in trials}
    calls = calls_of(Batches(trials, job, lambda trial: seconds[trial.key]))
    assert [trial for call in calls for trial in call.trials] == trials
    assert [len(call.trials) for call in calls] == [10, 1, 1, 24, 24, 24, 16]


def test_trials_that_share_a_fit_stay_together(job):
    trials = trials_of(60, methods=tuple(METHODS))
    for call in calls_of(Batches(trials, job, lambda _: 0.1)):
        shared = [trial.fold for trial in call.trials if trial.method != "alone"]
        assert all(shared.count(fold) == 2 for fold in shared)


def test_costs_are_learnt_and_what_is_unknown_goes_alone(job):
    batches = Batches(trials_of(30), job)
    first = batches.next()
    assert len(first.trials) == 1
    batches.observe(first.trials[0], math.nan)
    assert len(batches.next().trials) == 1
    batches.observe(first.trials[0], 0.05)
    assert len(batches.next().trials) == 5


def test_a_batch_has_a_largest_size(job):
    assert len(Batches(trials_of(1000), job, lambda _: 0.0).next().trials) == MOST


def test_trials_of_different_plugins_are_not_mixed(job):
    owners = {"shared-1": frozenset(["x"]), "shared-2": frozenset(["y"])}
    trials = trials_of(30, methods=tuple(METHODS))
    calls = calls_of(Batches(trials, replace(job, owners=owners), lambda _: 0.0))
    assert [{trial.method for trial in call.trials} for call in calls] == [{"alone"}, {"shared-1"}, {"shared-2"}]


def test_what_was_lost_twice_is_sent_one_by_one_before_the_rest(job):
    batches = Batches(trials_of(40), job, lambda _: 0.05)
    call = batches.next()
    call.losses = 1
    batches.repeat(call)
    assert batches.next() is call
    call.losses = 2
    batches.repeat(call)
    assert [len(batches.next().trials) for _ in range(6)] == [1, 1, 1, 1, 1, 5]
