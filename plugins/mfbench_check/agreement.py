"""Whether a method gives equivalent answers to two forms of one question, allowing for ties and randomness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.factories import parameter_names
from mfbench_check.subjects import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

Answer = Callable[..., "NDArray[Any]"]
Distance = Callable[["NDArray[Any]", "NDArray[Any]"], float]

# Relative to the largest weight: iterative methods have their own tolerance, and trees must choose among equal splits.
SAME_WEIGHTS = 0.01
# Relative to the largest weight: smaller differences count as ties, since weights of noise depend on the sample.
TIES = 0.2
# Share of the rows: rounding decides for rows on a class boundary.
SAME_PREDICTIONS = 0.05
SEEDS = 4
FACTOR = 1.5


@dataclass(frozen=True)
class Difference:
    """The distance between two series of answers."""

    between: float  # distance between the answers to the two forms, averaged over pairs of seeds
    # Largest distance between answers to the same form with different seeds; 0 for a deterministic method.
    within: float


def weight_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the largest difference between two weight vectors, relative to the largest weight."""
    scale = max(float(np.abs(first).max()), float(np.abs(second).max()))
    return float(np.abs(first - second).max()) / scale if scale else 0.0


def ranking_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the distance between two weight vectors up to a positive factor; 0 if the rankings are equal."""
    # Rankings are equal unless they swap two features whose weights differ by more than `TIES` in both.
    first, second = (values / (float(np.abs(values).max()) or 1.0) for values in (first, second))
    steps = [np.subtract.outer(values, values) for values in (first, second)]
    signs = [np.where(np.abs(step) > TIES, np.sign(step), 0) for step in steps]
    if np.isfinite(steps).all() and not (signs[0] * signs[1] < 0).any():
        return 0.0
    return weight_distance(first, second)


def disagreement(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the share of rows with different predictions."""
    return float(np.mean(first != second))


def difference(
    subject: Opened, plain: Answer, changed: Answer, distance: Distance, tolerance: float
) -> Difference | None:
    """Compare a method's answers to two forms of one question."""
    # A randomised method may answer the second form differently without preferring one, because permuted columns, for
    # example, meet different random numbers. If the answers differ by more than the tolerance, and different seeds also
    # change the answer to the first form, both forms are answered with four seeds each. The mean distance between the
    # forms must not exceed 1.5 times the largest distance within a form. If the form makes no difference, the mean
    # distance between forms is about the mean distance within them, far below this bound; only a dependence that
    # outweighs the randomness exceeds it.
    first, second = plain(), changed()
    if distance(first, second) <= tolerance:
        return None
    settings = _other_seeds(subject)
    plains = [first, *(plain(**one) for one in settings)]
    within = _widest(plains, distance)
    if within == 0:
        return Difference(distance(first, second), 0.0)
    answers = [second, *(changed(**one) for one in settings)]
    within = max(within, _widest(answers, distance))
    between = float(np.mean([distance(one, other) for one, other in product(plains, answers)]))
    return None if between <= FACTOR * within + tolerance else Difference(between, within)


def _other_seeds(subject: Opened) -> list[dict[str, Any]]:
    """Return the overrides that change the random numbers; a method without a seed is simply fitted again."""
    if "random_state" in parameter_names(subject.registered):
        return [{"random_state": subject.seed + k} for k in range(1, SEEDS)]
    return [{}] * (SEEDS - 1)


def _widest(answers: Sequence[NDArray[Any]], distance: Distance) -> float:
    return max(distance(one, other) for one, other in combinations(answers, 2))
