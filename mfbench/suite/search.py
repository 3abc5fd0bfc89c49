"""Which points of a grid tuning tries: all, some drawn at random, or fewer and fewer of them on more and more rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mfbench.suite.schema import Range

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen

# The values of a parameter; a range without a count stands for numbers to draw.
Axis = tuple[Any, ...] | Range
# The values to tune: (target, parameter, values), with target "selector", "classifier" or "top".
Grid = tuple[tuple[str, str, Axis], ...]


def listed(axis: Axis) -> list[Any]:
    """Return the values of a parameter; of numbers to draw, the ends."""
    return axis.values() if isinstance(axis, Range) else list(axis)


def combinations(axes: Iterable[Axis]) -> int | float:
    """Return the number of combinations of values; infinite if numbers are drawn."""
    return math.prod(math.inf if isinstance(axis, Range) else len(axis) for axis in axes)


def random_points(grid: Grid, n: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield the values of points drawn by scikit-learn, in the order of the grid; equal points are one."""
    from sklearn.model_selection import ParameterSampler

    axes = [axis for _, _, axis in grid]
    positions = {k: _numbers(axis) if isinstance(axis, Range) else range(len(axis)) for k, axis in enumerate(axes)}
    sampler = ParameterSampler(positions, n, random_state=seed)
    draws = {tuple(_plain(axis, draw[k]) for k, axis in enumerate(axes)) for draw in sampler}
    for draw in sorted(draws):
        yield tuple(x if isinstance(axis, Range) else axis[int(x)] for axis, x in zip(axes, draw, strict=True))


def _numbers(axis: Range) -> rv_frozen:
    """Return the distribution of a range's numbers."""
    from scipy import stats

    low, high = sorted((axis.first, axis.last))
    if axis.spacing == "log":
        return stats.loguniform(low, high)
    return stats.randint(low, high + 1) if axis.is_whole else stats.uniform(low, high - low)


def _plain(axis: Axis, number: Any) -> int | float:
    """Return a drawn position or number; digits that depend on the processor are rounded off."""
    return float(f"{number:.12g}") if isinstance(axis, Range) and not axis.is_whole else int(number)


def halving(points: int, rows: int, folds: int, classes: int, factor: int) -> list[tuple[int, int]]:
    """Return the rows and the number of points of each round of scikit-learn's ``HalvingGridSearchCV``."""
    needed = 1 + _floor_log(points, factor)
    fewest = max(min(2 * folds * classes, rows), rows // factor ** (needed - 1))
    rounds = []
    for number in range(min(needed, 1 + _floor_log(rows // fewest, factor))):
        rounds.append((fewest * factor**number, points))
        points = math.ceil(points / factor)
    return rounds


def _floor_log(number: int, base: int) -> int:
    return 0 if number < base else 1 + _floor_log(number // base, base)


def sample_size(part: int, rows: int, all_rows: int, classes: int) -> int:
    """Return how many rows of a part are fitted on in a round with so many of all rows: two of each class at least."""
    return min(part, max(part * rows // all_rows, 2 * classes))
