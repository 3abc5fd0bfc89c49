"""The queue of trials: groups that share selector fits, never across sets of distributions, and in the plan's order."""

import pytest
from small_runs import job_of

from mfbench.run.workers.job import BUILT_IN
from mfbench.run.workers.trial_queue import TrialQueue

FOREIGN = frozenset(["foreign"])
FITS = {((), "x"): None}


@pytest.fixture
def queue_of(prepared, tmp_path):
    plan, _, _ = prepared

    def make(owners=None, keep=lambda trial: True):
        job = job_of(plan, tmp_path / "data", owners=owners or {})
        return TrialQueue([trial for trial in plan.trials if keep(trial)], job)

    return make


def names(queue, owners=BUILT_IN):
    tasks = []
    while task := queue.take(owners):
        tasks.append(task)
    return [(task.trial.method, task.trial.fold, bool(task.shared)) for task in tasks], tasks


def test_trials_of_one_selector_and_fold_form_a_group(queue_of):
    queue = queue_of(keep=lambda trial: trial.fold == 0)
    first, tasks = names(queue)
    assert first == [("A", 0, False), ("C", 0, False), ("D", 0, False)]
    queue.finish(tasks[0], FITS)
    assert names(queue)[0] == [("B", 0, True)]


def test_when_the_first_of_a_group_is_killed_the_next_one_leads(queue_of):
    queue = queue_of(keep=lambda trial: trial.fold == 0 and trial.method in "AB")
    _, tasks = names(queue)
    queue.finish(tasks[0], {})
    assert names(queue)[0] == [("B", 0, False)]


def test_fits_are_not_shared_across_distributions(queue_of):
    queue = queue_of({"B": FOREIGN}, lambda trial: trial.fold == 0)
    assert names(queue)[0] == [("A", 0, False), ("C", 0, False), ("D", 0, False)]
    assert names(queue, FOREIGN)[0] == [("B", 0, False)]


def test_the_set_of_the_earliest_trial_comes_first(queue_of):
    queue = queue_of({"A": FOREIGN}, lambda trial: trial.method in "AD")
    assert queue.sets() == [FOREIGN, BUILT_IN]
    queue.take(FOREIGN)
    assert queue.sets() == [BUILT_IN, FOREIGN]
    names(queue)
    assert queue.sets() == [FOREIGN]
    assert queue.take(frozenset(["another"])) is None


def test_a_trial_that_may_not_start_is_passed_over_and_its_group_is_led_by_the_next(prepared, tmp_path):
    plan, _, _ = prepared
    trials = [trial for trial in plan.trials if trial.fold == 0]
    queue = TrialQueue(trials, job_of(plan, tmp_path / "data"), lambda trial: trial.method not in "AC")
    assert names(queue)[0] == [("B", 0, False), ("D", 0, False)]
    assert queue.sets() == []
