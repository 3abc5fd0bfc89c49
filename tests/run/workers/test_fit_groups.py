"""Groups of trials that share a selector fit."""

from mfbench.run.workers.trial_queue import fit_group, fit_groups


def test_trials_with_one_selector_on_one_fold_are_a_group(prepared):
    plan, _, registry = prepared
    group_of = fit_groups(plan, registry)
    groups = {}
    for trial in plan.trials:
        groups.setdefault(group_of(trial), []).append((trial.method, trial.fold))
    assert groups.pop(None) == [("D", fold) for fold in range(3)]  # D has no selector
    assert sorted(groups.values()) == sorted(
        [[("A", fold), ("B", fold)] for fold in range(3)] + [[("C", fold)] for fold in range(3)]
    )


def test_fits_of_different_packages_are_not_shared(prepared):
    plan, _, _ = prepared
    trial = plan.trials[0]
    groups = [fit_group(trial, plan.methods[trial.method], frozenset(owners)) for owners in ([], ["a-package"])]
    assert groups[0] != groups[1]
