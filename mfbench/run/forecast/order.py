"""The order of the trials of a run: long ones first, so that none of them keeps the run waiting at its end.

Short trials stay in the plan's order, where neighbours share data. Within a budget, cheap ones come first. No result
depends on the order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from mfbench.model.trials import Trial
from mfbench.run.trial.steps import selector_key
from mfbench.suite.forecast import Costs
from mfbench.suite.methods import ResolvedMethod

SHARE = 0.02  # of the time of a run in which all workers are always busy: what takes longer is long


def longest_first(
    trials: Sequence[Trial], costs: Costs, jobs: int, methods: Mapping[str, ResolvedMethod]
) -> list[Trial]:
    """Return trials in the order in which to run them."""
    # Trials that share a selector fit stay together: the others wait for the first of them, so they are as long as the
    # first and the longest of the others. Groups that take more than a small share of the whole run come first, the
    # longest before the others.
    seconds = [costs.of(trial).seconds for trial in trials]
    least = SHARE * sum(seconds) / max(1, jobs)
    if not seconds or sum(sorted(seconds)[-2:]) <= least:
        return list(trials)  # most often: no group can be long, so there is nothing to look for
    long = []
    for positions in _groups(trials, methods):
        length = seconds[positions[0]] + max((seconds[position] for position in positions[1:]), default=0.0)
        if length > least:
            long.append((-length, positions))
    long.sort()
    first = [position for _, positions in long for position in positions]
    moved = set(first)
    return [trials[position] for position in [*first, *(p for p in range(len(trials)) if p not in moved)]]


def seconds_each(trials: Iterable[Trial], costs: Costs, methods: Mapping[str, ResolvedMethod]) -> dict[str, float]:
    """Return the predicted seconds of each trial, by its key; those that share a selector fit share its cost."""
    trials = list(trials)
    seconds: dict[str, float] = {}
    for positions in _groups(trials, methods):
        group = [trials[position] for position in positions]
        mean = math.fsum(costs.of(trial).seconds for trial in group) / len(group)
        seconds |= {trial.key: mean for trial in group}
    return seconds


def _groups(trials: Sequence[Trial], methods: Mapping[str, ResolvedMethod]) -> list[list[int]]:
    """Return the positions of the trials that share a selector fit; a trial without a selector is a group."""
    keys = {label: selector_key(method) for label, method in methods.items()}
    groups: dict[tuple[object, ...], list[int]] = {}
    for position, trial in enumerate(trials):
        key = keys[trial.method]
        coordinates = (trial.dataset, trial.repeat, trial.fold, key) if key else (position,)
        groups.setdefault(coordinates, []).append(position)
    return list(groups.values())
