"""The sizes of a curve: from what a suite lists to the numbers of features of a dataset."""

from __future__ import annotations

import math

from mfbench.suite.schema import Curve, Size, SizeRange

SHOWN_SIZES = 10  # of a list in a description


def count_of(size: str | int | float, n_features: int) -> int:
    """Return the number of features that a size stands for; a fraction is rounded up, as everywhere."""
    if isinstance(size, float):
        return math.ceil(size * n_features - 1e-9)
    return n_features if size == "all" else int(size)


def curve_sizes(curve: Curve, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a curve on a dataset, ascending."""
    if isinstance(curve, SizeRange):
        sizes = _between(_bounded(curve.first, n_features), _bounded(curve.last, n_features), curve)
    else:
        sizes = [_bounded(size, n_features) for size in curve]
    return tuple(sorted(set(sizes)))


def _bounded(size: Size, n_features: int) -> int:
    return max(1, min(count_of(size, n_features), n_features))


def _between(first: int, last: int, curve: SizeRange) -> list[int]:
    shares = [step / (curve.count - 1) for step in range(curve.count)]
    if curve.spacing == "log":
        return [round(first * (last / first) ** share) for share in shares]
    return [round(first + (last - first) * share) for share in shares]


def describe_curve(curve: Curve) -> str:
    """Return a curve as a part of a method's description."""
    if isinstance(curve, SizeRange):
        spacing = "" if curve.spacing == "log" else f", {curve.spacing}"
        return f"curve {curve.first} … {curve.last} ({curve.count} sizes{spacing})"
    if len(curve) > SHOWN_SIZES:
        return f"curve {curve[0]} … {curve[-1]} ({len(curve)} sizes)"
    return f"curve {', '.join(map(str, curve))}"
