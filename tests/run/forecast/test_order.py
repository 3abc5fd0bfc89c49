"""Longest first: long groups at the front, the others where they were, and never another result."""

from types import SimpleNamespace

from mfbench.host.expressions import parse
from mfbench.model.trials import Trial
from mfbench.run.forecast.order import SHARE, longest_first, seconds_each
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.plan import Cost

METHODS = {
    label: ResolvedMethod(
        label, Step(parse("relief"), "selector") if label in "AB" else None, Step(parse("knn"), "classifier"), "all"
    )
    for label in "ABCD"
}


def trials_of(*datasets, folds=5):
    return [Trial(f"{d}{f}{m}", d, m, 0, f, 0) for d in datasets for f in range(folds) for m in METHODS]


def costs(**seconds):
    """Return the costs of trials by their method or by dataset and method; one second if neither is named."""
    return SimpleNamespace(
        of=lambda trial: Cost(seconds.get(trial.dataset + trial.method, seconds.get(trial.method, 1.0)), 0)
    )


def test_equal_trials_stay_in_the_order_of_the_plan():
    trials = trials_of("x", "y", folds=round(1 / SHARE))
    assert longest_first(trials, costs(), 2, METHODS) == trials


def test_long_trials_come_first_the_longest_before_the_others():
    trials = trials_of("x", "y", "z")
    ordered = longest_first(trials, costs(zC=50.0, yD=40.0), 2, METHODS)
    assert [(t.dataset, t.method) for t in ordered[:10]] == [("z", "C")] * 5 + [("y", "D")] * 5
    rest = [t for t in trials if (t.dataset, t.method) not in {("z", "C"), ("y", "D")}]
    assert ordered[10:] == rest


def test_trials_that_share_a_selector_fit_stay_together():
    trials = trials_of("x", "y")
    ordered = longest_first(trials, costs(yA=30.0, yB=2.0), 4, METHODS)
    assert [(t.method, t.fold) for t in ordered[:10]] == [(m, f) for f in range(5) for m in "AB"]


def test_a_group_is_as_long_as_its_first_trial_and_the_longest_that_waits_for_it():
    trials = trials_of("x", folds=2)
    ordered = longest_first(trials, costs(A=10.0, B=10.0, C=15.0), 1, METHODS)
    assert [t.method for t in ordered[:6]] == ["A", "B", "A", "B", "C", "C"]


def test_the_more_workers_the_more_trials_are_long():
    trials = trials_of("x", folds=round(1 / SHARE))
    few, many = (longest_first(trials, costs(C=3.0), jobs, METHODS) for jobs in (1, 8))
    assert few == trials
    assert many[0].method == "C"


def test_each_trial_comes_once(subtests):
    for seconds in [{}, {"C": 1e7}, {"A": 1e-6, "xD": 600.0}]:
        for jobs in [1, 3, 1000]:
            with subtests.test(seconds=seconds, jobs=jobs):
                trials = trials_of("x", "y")
                ordered = longest_first(trials, costs(**seconds), jobs, METHODS)
                assert sorted(t.key for t in ordered) == sorted(t.key for t in trials)


def test_nothing_has_no_order():
    assert longest_first([], costs(), 2, METHODS) == []


def test_trials_that_share_a_selector_fit_share_its_cost():
    trials = trials_of("x", "y", folds=2)
    each = seconds_each(trials, costs(A=10.0, B=2.0, C=7.0, yD=3.0), METHODS)
    assert each == {
        trial.key: {"A": 6.0, "B": 6.0, "C": 7.0, "D": 3.0 if trial.dataset == "y" else 1.0}[trial.method]
        for trial in trials
    }
