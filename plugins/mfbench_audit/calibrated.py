"""Rankings of other packages with a threshold from permuted targets."""

from typing import Any

from mfbench_controlled.randomisation import PermutedTarget
from mfbench_margin.relieff import ReliefF


def permuted_relieff(n_neighbors: int = 10, **parameters: Any) -> PermutedTarget:
    """Return a selector of the features that ReliefF weighs more than any where y is in random order.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of hits, and of misses of each other class, of `mfbench_margin.relieff.ReliefF`.
    **parameters
        Those of `mfbench_controlled.randomisation.PermutedTarget`, except `selector`.

    Returns
    -------
    PermutedTarget

    Notes
    -----
    Takes `n_permutations` + 1 times the time of ReliefF, which is O(n² p).

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_audit.calibrated import permuted_relieff
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> permuted_relieff(random_state=0).fit(X, X[:, 3] > 0).get_support(indices=True).tolist()
    [3]
    """
    return PermutedTarget(selector=ReliefF(n_neighbors=n_neighbors), **parameters)
