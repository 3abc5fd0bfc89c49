"""The grid of a tuned method: its points and their parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from mfbench.suite.methods import TOP, Grid

# The parameters of a grid point, by step ("selector", "classifier" or "top") and name. Without tuning it is empty.
GridPoint = dict[tuple[str, str], Any]


def grid_points(grid: Grid) -> Iterator[GridPoint]:
    """Yield every combination of a grid, in its order; the last key changes fastest."""
    for values in itertools.product(*(values for _, _, values in grid)):
        point: GridPoint = {}
        for (target, name, _), value in zip(grid, values, strict=True):
            names = name.split(",")  # parameters that are tuned together have one entry
            point |= {(target, part): v for part, v in zip(names, value if len(names) > 1 else [value], strict=True)}
        yield point


def parameters(point: GridPoint, target: str) -> dict[str, Any]:
    """Return the parameters of a grid point for one step."""
    return {name: value for (owner, name), value in point.items() if owner == target}


def readable(point: GridPoint) -> dict[str, Any]:
    """Return a grid point with one text for each key: "top", "selector.NAME" or "classifier.NAME"."""
    return {name if target == TOP else f"{target}.{name}": value for (target, name), value in point.items()}
