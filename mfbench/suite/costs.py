"""Declared costs of a plan's trials, from the plugins' formulas: the same on every machine for equal plan and code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.suite.fits import Fits, FoldSizes, fits_of, fitted_columns, sizes_of
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.plan import Cost, Plan

Formula = Callable[[Mapping[str, float]], float]  # from the values of n, p and k
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
_HELP = "use sums and products of numbers, n, p, k, their powers and log(...), such as 'n**2 * p'"


@dataclass(frozen=True)
class Complexity:
    """A formula in the rows ``n``, the features ``p`` and the classes ``k``."""

    terms: tuple[Formula, ...]  # the summands
    growing: tuple[Formula, ...]  # those that are not constant; all if none grows
    # Whether its values are seconds: each term has a coefficient, which is below 1 unless the term is constant.
    # Otherwise the formula gives only the growth.
    in_seconds: bool

    def __call__(self, n: float, p: float, k: float) -> float:
        """Return the value of the formula."""
        return _sum(self.terms, n, p, k)

    def growth(self, n: float, p: float, k: float) -> float:
        """Return the value without constant terms, which on small tables hide the growth of the others."""
        return _sum(self.growing, n, p, k)


def parse_complexity(text: str) -> Complexity:
    """Parse a formula."""
    # The formula is plugin text, so it is interpreted term by term and never executed.
    try:
        nodes = _terms(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"the complexity {text!r} cannot be read: {_HELP}") from error
    terms = tuple(_compiled(node, text) for node in nodes)
    growing = tuple(term for term, node in zip(terms, nodes, strict=True) if not _is_constant(node))
    return Complexity(terms, growing or terms, all(_is_constant(node) or 0 < _factor(node) < 1 for node in nodes))


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum; a long sum is a deeply nested tree."""
    terms = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms += _terms(node.right)
        node = node.left
    return [*terms, node]


def _factor(node: ast.expr) -> float:
    """Return the product of a term's numeric factors, 1 if it has none."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(op=ast.Mult()):
            return _factor(node.left) * _factor(node.right)
    return 1.0


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name) and part.id in ("n", "p", "k") for part in ast.walk(node))


def _sum(terms: tuple[Formula, ...], n: float, p: float, k: float) -> float:
    values = {"n": float(n), "p": float(p), "k": float(k)}
    return math.fsum(term(values) for term in terms)


def _compiled(node: ast.expr, text: str) -> Formula:
    """Return the function that a node stands for; raise ValueError if formulas cannot have it."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return lambda values: float(number)
        case ast.Name(id="n" | "p" | "k" as name):
            return operator.itemgetter(name)
        case ast.BinOp(op=ast.Add() | ast.Mult()) | ast.BinOp(op=ast.Pow(), right=ast.Constant()):
            apply = _OPERATORS[type(node.op)]
            left, right = _compiled(node.left, text), _compiled(node.right, text)
            return lambda values: apply(left(values), right(values))
        case ast.Call(func=ast.Name(id="log"), args=[argument], keywords=[]):
            inner = _compiled(argument, text)
            return lambda values: math.log(inner(values))
    raise ValueError(f"the complexity {text!r} contains {ast.unparse(node)!r}: {_HELP}")


TRIAL = 1e-3  # seconds of a trial's fixed overhead: encoding, scoring, storing
EVALUATION = 5e-4  # seconds around each classifier fit: copying columns, predicting rows, scoring
GROWTH = 1e-8  # seconds per unit of a formula without coefficients
UNDECLARED = parse_complexity("5e-3 + 1e-6 * n * p")
LEAST, LONGEST = 1e-6, 1e7  # seconds of a fit; bounds that keep sums of costs finite and positive
COPIES = 4  # copies of a fold's encoded columns that exist at the same time
SMALLEST = 2 * 2**20  # bytes by which a worker's memory grows in a trial on a small table


class DeclaredCosts:
    """Costs of a plan's trials from the formulas that plugins declare."""

    # They depend on the plan and the code alone, not on stored times or the machine: the order of magnitude is right on
    # ordinary machines, and processes on different machines agree on them.

    def __init__(self, plan: Plan, registry: Registry) -> None:
        self.plan = plan
        settings = plan.loaded.protocol
        self.limit = settings.timeout
        self._protocol = plan.protocol
        self._formulas: dict[tuple[str, str], Complexity] = {}
        for method in plan.methods.values():
            for step in method.steps:
                name = step.expression.name
                self._formulas[step.kind, name] = _formula(registry.entry(step.kind, name).spec.complexity)
        self._leaders: dict[str, ResolvedMethod] = {}
        for method in plan.methods.values():
            if method.selector is not None:
                self._leaders.setdefault(method.selector.expression.identity, method)
        self._sizes: dict[str, list[FoldSizes]] = {}
        self._costs: dict[tuple[str, str, FoldSizes], Cost] = {}

    def of(self, trial: Trial) -> Cost:
        """Return the cost of a trial of the plan."""
        # A shared selector fit is charged to the plan's first method that needs it.
        sizes = self.sizes(trial.dataset, trial.fold)
        key = trial.dataset, trial.method, sizes
        if key not in self._costs:
            self._costs[key] = self._cost(self.plan.methods[trial.method], sizes)
        return self._costs[key]

    def sizes(self, dataset: str, fold: int) -> FoldSizes:
        """Return the sizes of a fold; those in other repeats differ by one row at most."""
        if dataset not in self._sizes:
            self._sizes[dataset] = sizes_of(self.plan.datasets[dataset], self._protocol)
        return self._sizes[dataset][fold]

    def one_fit(self, method: ResolvedMethod, n: float, p: int, k: int) -> float:
        """Return the seconds of one fit of a method's selector on ``n`` rows, and of its learner at each size."""
        selecting = 0.0 if method.selector is None else self._fit(method.selector, n, p, k)
        if method.learner is None:
            return selecting
        step, widths = method.learner, fitted_columns(method, p, p)
        return selecting + sum(self._fit(step, n, columns, k) for columns in widths)

    def _cost(self, method: ResolvedMethod, sizes: FoldSizes) -> Cost:
        seconds = self._seconds(method, sizes)
        table = 8 * (sizes.rows + sizes.tested) * (sizes.columns + sizes.features)
        return Cost(seconds, SMALLEST + COPIES * table, self.limit)

    def _seconds(self, method: ResolvedMethod, sizes: FoldSizes) -> float:
        fits = fits_of(method, sizes, self._protocol)
        leader = self._leaders.get("" if method.selector is None else method.selector.expression.identity)
        shared: Fits | None = None
        if leader is not None and leader.label != method.label:
            shared = fits_of(leader, sizes, self._protocol)
        seconds = TRIAL
        if method.selector is not None:
            columns = sizes.features if method.selector.raw_input else sizes.columns
            for place, number in fits.selectors.items():
                if shared is None or place not in shared.selectors:
                    seconds += number * self._fit(method.selector, place.rows, columns, sizes.classes)
        if method.learner is not None:
            for columns in fitted_columns(method, sizes.features, sizes.columns):
                for rows, number in fits.learners.items():
                    one = self._fit(method.learner, rows, columns, sizes.classes)
                    seconds += number * (one + EVALUATION)
        return seconds * sizes.problems

    def _fit(self, step: Step, n: float, p: float, k: float) -> float:
        return _value(self._formulas[step.kind, step.expression.name], n, p, k)


def _formula(text: str) -> Complexity:
    """Parse a formula; an invalid one is ignored, since ``mfbench check`` reports it and a run need not fail."""
    try:
        return parse_complexity(text) if text else UNDECLARED
    except ValueError:
        return UNDECLARED


def _value(formula: Complexity, n: float, p: float, k: float) -> float:
    """Return the seconds that a formula gives, within bounds; `UNDECLARED` if it has no value."""
    n, p, k = max(n, 1.0), max(p, 1.0), max(k, 1.0)
    try:
        value = formula(n, p, k) if formula.in_seconds else UNDECLARED(1, 1, 1) + GROWTH * formula(n, p, k)
    except OverflowError:
        return LONGEST
    except (ArithmeticError, ValueError):
        value = math.nan
    if math.isnan(value) or value <= 0.0:
        value = UNDECLARED(n, p, k)
    return float(np.clip(value, LEAST, LONGEST))
