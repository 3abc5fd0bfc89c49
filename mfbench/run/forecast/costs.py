"""What the trials of a plan cost, learned from earlier trials; without any, from what plugins declare.

A trial is expected to take as long as earlier trials of its method on its dataset. Without such trials, a model of the
method's times on other datasets corrects the declared formula, and without those a factor for the machine does.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.run.forecast.measured import FARTHEST, Measured, earlier_trials
from mfbench.suite.costs import DeclaredCosts, declared_costs
from mfbench.suite.forecast import Cost, Forecast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.suite.plan import Plan

# Assumed standard deviations of logarithms of measured over declared seconds; tests/benchmarks/cost_study.py shows what
# follows from them.
OF_METHODS = 0.7  # between methods, about the factor of the machine
OF_EXPONENTS = 0.25  # of the exponents of n, p and k, about those of the formula
OF_DATASETS = 0.4  # between the datasets of a method, about its model
OF_TRIALS = 0.3  # between the trials of a method on one dataset
STARTUP = 2.5  # seconds until the workers of a run have imported what they need
COMPILING = 0.3  # seconds that an estimator which compiles on first use needs for that, most often from a cache


class LearnedCosts:
    """The costs of a plan's trials, by earlier trials."""

    def __init__(self, declared: DeclaredCosts, measured: Sequence[Measured]) -> None:
        self.declared = declared
        self._costs: dict[tuple[str, str, int], Cost] = {}
        self._cells: dict[tuple[str, str], Measured] = {(one.dataset, one.method): one for one in measured}
        usable = [one for one in self._cells.values() if one.trials]
        self.machine = _machine(usable)
        by_method: dict[str, list[Measured]] = defaultdict(list)
        for one in usable:
            by_method[one.method].append(one)
        self._models = {method: _Model(cells, self.machine) for method, cells in by_method.items()}
        self._memory = {method: _memory_ratio(cells) for method, cells in by_method.items()}

    def of(self, trial: Trial) -> Cost:
        """Return what a trial of the plan costs."""
        key = trial.dataset, trial.method, trial.fold
        if key not in self._costs:
            self._costs[key] = self._cost(trial)
        return self._costs[key]

    def _cost(self, trial: Trial) -> Cost:
        declared = self.declared.of(trial)
        sizes = self.declared.sizes(trial.dataset, trial.fold)
        at = _coordinates(sizes.rows, sizes.columns, sizes.classes)
        model = self._models.get(trial.method)
        expected = self.machine if model is None else model.at(at)
        cell = self._cells.get((trial.dataset, trial.method))
        memory = int(declared.memory * self._memory.get(trial.method, 1.0))
        if cell is not None:
            if cell.trials:
                own, others = cell.trials / OF_TRIALS**2, 1 / OF_DATASETS**2
                expected = (own * cell.log_ratio + others * expected) / (own + others)
            memory = cell.memory or memory
        seconds = declared.unlimited * math.exp(float(np.clip(expected, -FARTHEST, FARTHEST)))
        return Cost(seconds, memory, self.declared.limit)


class _Model:
    """The ratios of a method's measured to its declared seconds, as a power of n, p and k."""

    # Its parameters are the means of a posterior distribution: few datasets only move the scale, many the exponents
    # too.

    def __init__(self, cells: Sequence[Measured], machine: float) -> None:
        self._machine = machine
        coordinates = np.array([_coordinates(cell.rows, cell.columns, cell.classes) for cell in cells])
        self._center = coordinates.mean(axis=0)
        design = self._design(coordinates)
        precision = np.diag(1 / np.array([OF_METHODS, *[OF_EXPONENTS] * 3]) ** 2)
        weights = np.array([1 / (OF_DATASETS**2 + OF_TRIALS**2 / cell.trials) for cell in cells])
        ratios = np.array([cell.log_ratio for cell in cells]) - machine
        self._parameters = np.linalg.solve(precision + (design.T * weights) @ design, (design.T * weights) @ ratios)

    def _design(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([np.ones(len(coordinates)), coordinates - self._center])

    def at(self, coordinates: NDArray[np.float64]) -> float:
        """Return the logarithm of the ratio that is expected at some sizes."""
        return self._machine + float((self._design(coordinates[None]) @ self._parameters)[0])


def _coordinates(rows: float, columns: float, classes: float) -> NDArray[np.float64]:
    return np.log(np.maximum([rows, columns, classes], 1.0))


def _machine(cells: Sequence[Measured]) -> float:
    """Return the logarithm of the machine's factor: a median over methods, and 0 if nothing was measured."""
    # Of few methods it is not the machine's, so it is moved towards 0 as far as methods differ.
    by_method: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        by_method[cell.method].append(cell.log_ratio)
    if not by_method:
        return 0.0
    middle = float(np.median([np.median(ratios) for ratios in by_method.values()]))
    return middle * len(by_method) / (len(by_method) + 1.0)


def _memory_ratio(cells: Sequence[Measured]) -> float:
    """Return the largest ratio of measured to declared memory; 1 if the system does not measure it."""
    return max((cell.memory_ratio for cell in cells if cell.memory), default=1.0)


def learned_costs(plan: Plan, registry: Registry, folder: Path) -> LearnedCosts:
    """Return what the trials of a plan cost, by the earlier trials in a folder of reports."""
    # Nothing is written. Stores that cannot be read are passed over: an estimate does without them.
    declared = declared_costs(plan, registry)
    return LearnedCosts(declared, earlier_trials(plan, declared, folder))


def forecast(plan: Plan, registry: Registry, folder: Path, jobs: int) -> Forecast:
    """Return what a run of a plan is expected to cost; see `learned_costs`."""
    return Forecast(learned_costs(plan, registry, folder), jobs, startup_seconds(plan, registry))


def startup_seconds(plan: Plan, registry: Registry) -> float:
    """Return the seconds until all workers have started and have compiled what they compile on first use."""
    warm = {
        (kind, step.expression.name)
        for method in plan.methods.values()
        for kind, step, find in (
            ("selector", method.selector, registry.selector),
            ("classifier", method.classifier, registry.classifier),
        )
        if step is not None and find(step.expression.name).spec.warm_up
    }
    return STARTUP + COMPILING * len(warm)
