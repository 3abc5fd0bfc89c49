"""Shards: parts of a plan that machines run without knowing about each other.

They are a function of the plan and of predicted costs that do not depend on the machine, so that machines which never
meet agree on them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.run.workers.fit_groups import fit_groups
from mfbench.suite.costs import declared_costs
from mfbench.suite.plan import Plan
from mfbench.suite.shares import Share, digest_of


def shard_of(plan: Plan, number: int, of: int, run: str, registry: Registry) -> Plan:
    """Return a plan restricted to a shard: all datasets and methods, and a part of the trials."""
    # The shards have nearly equal costs, by what plugins declare, so that machines agree on them without stored times.
    # Trials that share a selector fit are in one shard.
    costs = declared_costs(plan, registry)
    parts = divide(plan.trials, of, fit_groups(plan, registry), lambda trial: costs.of(trial).seconds)
    digest = digest_of(trial.key for trial in plan.trials)
    return restricted(plan, Share("shard", number, of, run, digest, len(plan.trials), parts[number - 1]))


def restricted(plan: Plan, share: Share) -> Plan:
    """Return a plan restricted to a share."""
    return replace(plan, trials=[plan.trials[position] for position in share.positions], share=share)


def groups_of(
    trials: Sequence[Trial], group_of: Callable[[Trial], Hashable | None], chosen: Iterable[int] | None = None
) -> list[list[int]]:
    """Return the positions of trials that stay together, in the order of their first trials."""
    groups: list[list[int]] = []
    by_key: dict[Hashable, list[int]] = {}
    for position in range(len(trials)) if chosen is None else chosen:
        key = group_of(trials[position])
        if key is None:
            groups.append([position])
        elif key in by_key:
            by_key[key].append(position)
        else:
            by_key[key] = [position]
            groups.append(by_key[key])
    return groups


def balanced(costs: Sequence[float], number: int) -> list[list[int]]:
    """Divide items into parts of nearly equal cost: the most expensive item first, each to the cheapest part."""
    parts: list[list[int]] = [[] for _ in range(number)]
    loads = [(0.0, 0, part) for part in range(number)]  # cost, items: costs of 0 are spread as well
    for item in sorted(range(len(costs)), key=lambda item: (-costs[item], item)):
        load, size, part = loads[0]
        parts[part].append(item)
        heapq.heapreplace(loads, (load + costs[item], size + 1, part))
    return parts


def divide(
    trials: Sequence[Trial],
    number: int,
    group_of: Callable[[Trial], Hashable | None],
    weigh: Callable[[Trial], float],
    chosen: Iterable[int] | None = None,
) -> list[tuple[int, ...]]:
    """Divide trials into shares of nearly equal predicted cost; groups are not divided."""
    groups = groups_of(trials, group_of, chosen)
    costs = [_rounded(math.fsum(weigh(trials[position]) for position in group)) for group in groups]
    return [tuple(sorted(position for group in part for position in groups[group])) for part in balanced(costs, number)]


def _rounded(cost: float) -> float:
    # Mathematical functions may differ in the last digits between machines, which must divide a plan alike.
    return float(f"{cost:.6g}")
