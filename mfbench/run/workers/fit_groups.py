"""Groups of trials that share a selector fit, which is made once."""

from __future__ import annotations

from collections.abc import Callable

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.run.trial.steps import selector_key
from mfbench.run.workers.owners import Owners, owners_of_method
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.plan import Plan

# Distributions of the method, dataset, repeat, fold and selector.
FitGroup = tuple[Owners, str, int, int, str]


def fit_group(trial: Trial, method: ResolvedMethod, owners: Owners) -> FitGroup | None:
    """Return what the trials that share a selector fit have in common; None for a trial without a selector."""
    key = selector_key(method)
    return (owners, trial.dataset, trial.repeat, trial.fold, key) if key else None


def fit_groups(plan: Plan, registry: Registry) -> Callable[[Trial], FitGroup | None]:
    """Return a function that gives the group of each trial of a plan."""
    owners = {label: owners_of_method(method, registry) for label, method in plan.methods.items()}
    return lambda trial: fit_group(trial, plan.methods[trial.method], owners[trial.method])
