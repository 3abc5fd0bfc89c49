"""Dividing a plan into shards, which machines run without knowing about each other.

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
from mfbench.suite.shards import Shard, digest_of


def shard_of(plan: Plan, number: int, of: int, run: str, registry: Registry) -> Plan:
    """Return a plan restricted to a shard: all datasets and methods, and a part of the trials."""
    # The shards have nearly equal costs, by what plugins declare, so that machines agree on them without stored times.
    # Trials that share a selector fit are in one shard.
    costs = declared_costs(plan, registry)
    parts = divide(plan.trials, of, fit_groups(plan, registry), lambda trial: costs.of(trial).seconds)
    return restricted(plan, number, of, run, parts[number - 1])


def restricted(plan: Plan, number: int, of: int, run: str, positions: tuple[int, ...], batch: str = "") -> Plan:
    """Return a plan restricted to the trials at some positions, which are a shard."""
    digest = digest_of(trial.key for trial in plan.trials)
    shard = Shard(number, of, run, digest, len(plan.trials), positions, batch)
    return replace(plan, trials=[plan.trials[position] for position in positions], shard=shard)


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
    """Divide trials into shards of nearly equal predicted cost; groups are not divided."""
    by_key: dict[Hashable, list[int]] = {}
    for position in range(len(trials)) if chosen is None else chosen:
        key = group_of(trials[position])
        by_key.setdefault(position if key is None else ("group", key), []).append(position)
    groups = list(by_key.values())
    # Mathematical functions may differ in the last digits between machines, which must divide a plan alike.
    costs = [float(f"{math.fsum(weigh(trials[position]) for position in group):.6g}") for group in groups]
    return [tuple(sorted(position for group in part for position in groups[group])) for part in balanced(costs, number)]
