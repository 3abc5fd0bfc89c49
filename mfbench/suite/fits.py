"""The number of fits in a trial and their rows, as determined by the protocol and the method's tuning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from mfbench.host.expressions import canonical_text
from mfbench.model.specs import Dataset
from mfbench.suite.methods import TOP, PlannedDataset, ResolvedMethod, curve_sizes
from mfbench.suite.protocols import EvaluationProtocol
from mfbench.suite.schema import MOST_POINTS
from mfbench.suite.search import Axis, combinations, halving, listed, sample_size

POSITIVE = 0.8  # assumed share of columns that the rule "positive" keeps; only a fit can tell the true one


@dataclass(frozen=True, slots=True)
class FoldSizes:
    """The sizes of a fold."""

    rows: int  # rows, tested: rows of the final fit, and test rows
    tested: int
    tuned: int  # rows that tuning fits on
    scorings: int  # parts on which tuning fits and scores each grid point
    final: bool  # whether the fits of tuning are tested directly, without a refit
    features: int  # features, columns: features, and columns after encoding
    columns: int
    # classes, problems: classes per problem, and problems (more than one with a one-vs-rest problem per class).
    classes: int
    problems: int


@dataclass(frozen=True, slots=True)
class FitLocation:
    """Where selectors are fitted: on the fold's rows or its inner folds, and at which grid points."""

    inner: bool
    rows: int
    grid: str


@dataclass(frozen=True, slots=True)
class Fits:
    """The number of selector fits by location, and of classifier fits by number of rows."""

    # For a learner with a curve, the number at each size.

    selectors: Counter[FitLocation] = field(default_factory=Counter)
    learners: Counter[int] = field(default_factory=Counter)


def sizes_of(planned: PlannedDataset, protocol: EvaluationProtocol) -> list[FoldSizes]:
    """Return the sizes of each fold of a dataset in the first repeat."""
    data = planned.data
    columns = encoded_columns(data)
    one_by_one = protocol.decisions == "one-vs-rest" and data.n_classes > 2
    all_sizes = []
    for split in planned.splits(protocol, 0):
        rows = len(split.train)
        if split.tuning is None:
            parts = max(2, protocol.inner_folds)
            tuned, scorings, final = rows - ceil(rows / parts), parts, False
        else:
            tuned, scorings = len(split.tuning[0]), 1
            final = np.array_equal(split.tuning[0], split.train)
        chosen = split.features(data.n_features)
        all_sizes.append(
            FoldSizes(
                rows,
                len(split.test),
                tuned,
                scorings,
                final,
                data.n_features if chosen is None else len(chosen),
                int(columns.sum() if chosen is None else columns[chosen].sum()),
                2 if one_by_one else data.n_classes,
                data.n_classes if one_by_one else 1,
            )
        )
    return all_sizes


def encoded_columns(data: Dataset) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of encoded columns of each feature; see `mfbench.data.prepare.Encoder`."""
    columns = np.ones(data.n_features, dtype=np.int64)
    if data.encoding == "one-hot":
        for feature in np.flatnonzero(data.categorical):
            values = np.unique(data.X[:, feature])
            width = int(np.isfinite(values).sum())
            columns[feature] = 1 if width == 2 else max(1, width)
    return columns


def kept_columns(method: ResolvedMethod, columns: int) -> int:
    """Return the approximate number of columns that a method's selector passes to the classifier."""
    if method.selector is None:
        return columns
    rules = [rule for target, _, values in method.grid if target == TOP for rule in listed(values)] or [method.top]
    return max(1, ceil(sum(_kept(rule, columns) for rule in rules) / len(rules)))


def fitted_columns(method: ResolvedMethod, features: int, columns: int) -> list[int]:
    """Return the approximate number of columns in each fit of a method's classifier, one per size of a curve."""
    if method.curve is None:
        return [kept_columns(method, columns)]
    return [ceil(size * columns / features) for size in curve_sizes(method.curve, features)]


def _kept(rule: object, columns: int) -> float:
    if isinstance(rule, float):
        return rule * columns
    if isinstance(rule, int):
        return min(rule, columns)
    return POSITIVE * columns if rule == "positive" else columns


def fits_of(method: ResolvedMethod, sizes: FoldSizes, protocol: EvaluationProtocol) -> Fits:
    """Return the fits in a trial of a method, for each of its problems."""
    fits = Fits()
    outer = FitLocation(False, sizes.rows, "")
    if not protocol.predicts:
        if method.selector is not None:
            fits.selectors[outer] = 1
        else:
            fits.learners[sizes.rows] = 1
        return fits
    rounds = _rounds(method, sizes)
    classified = _tried(_fitted_grid(method), rounds[0][1])
    selections = _tried(_selector_grid(method), rounds[0][1])
    searched = () if method.search is None else (method.search, method.grid)  # points that other searches do not try
    grid = canonical_text((*_selector_grid(method), *searched)) if selections > 1 else ""
    if method.selection == "per-dataset" and method.grid:
        fits.learners[sizes.rows] = classified
        if method.selector is not None:
            fits.selectors[FitLocation(False, sizes.rows, grid)] = selections
        return fits
    for rows, points in rounds if method.grid else ():
        fits.learners[rows] += min(classified, points) * sizes.scorings
        if method.selector is not None:
            inner = rows < sizes.tuned or not sizes.final
            fits.selectors[FitLocation(inner, rows, grid)] = min(selections, points) * sizes.scorings
    if not (method.grid and sizes.final and rounds[-1][0] == sizes.tuned):
        fits.learners[sizes.rows] += 1
        if method.selector is not None:
            fits.selectors[outer] = 1
    return fits


def _rounds(method: ResolvedMethod, sizes: FoldSizes) -> list[tuple[int, int]]:
    """Return the rows that tuning fits on, and at most how many grid points: for each round if there are several."""
    points = _tried([axis for _, _, axis in method.grid], (method.search and method.search.n) or MOST_POINTS)
    if method.search is None or method.search.kind == "random":
        return [(sizes.tuned, points)]
    rounds = halving(points, sizes.rows, sizes.scorings, sizes.classes, method.search.factor)
    return [(sample_size(sizes.tuned, rows, sizes.rows, sizes.classes), points) for rows, points in rounds]


def _tried(axes: list[Axis], points: int) -> int:
    """Return how many combinations of some parameters so many grid points have at most."""
    return int(min(combinations(axes), points))


def _fitted_grid(method: ResolvedMethod) -> list[Axis]:
    """Return a method's grid values, except along a learner's path, where one fit serves all values."""
    path = method.learner.path[0] if method.learner is not None and method.learner.path is not None else None
    return [values for target, name, values in method.grid if target in ("selector", TOP) or name != path]


def _selector_grid(method: ResolvedMethod) -> list[Axis]:
    """Return the grid values of a method's selector; along its path one fit serves all values."""
    path = method.selector.path[0] if method.selector is not None and method.selector.path is not None else None
    return [values for target, name, values in method.grid if target == "selector" and name != path]
