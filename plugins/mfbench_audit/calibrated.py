"""Rankings of other packages with a threshold from permuted targets."""

from typing import Any

from mfbench_controlled.randomisation import PermutedTarget
from mfbench_margin.relieff import ReliefF


def permuted_relieff(n_neighbors: int = 10, **parameters: Any) -> PermutedTarget:
    """Return `PermutedTarget` around `ReliefF` with this number of neighbours; it takes the other parameters."""
    return PermutedTarget(selector=ReliefF(n_neighbors=n_neighbors), **parameters)
