"""Rankings of other packages with a threshold from permuted targets."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mfbench_controlled.randomisation import PermutedTarget
from mfbench_margin.relieff import ReliefF


class PermutedReliefF(PermutedTarget):
    """Select the features that ReliefF weighs more than any feature where y is in random order.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the significant ones.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_neighbors : int, default=10
        Number of hits, and of misses of each other class.
    rate : {"fwer", "fpr"}, default="fwer"
        What is at most `level`; see `mfbench_controlled.randomisation.PermutedTarget`.
    level : float, default=0.05
        Above 0 and below 1.
    n_permutations : int, default=39
        Number of random orders; at least 1 / `level` - 1.
    random_state : int, RandomState or None, default=None
        Seed of the orders.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Positive if selected.
    p_values_ : ndarray of shape (n_features,)
        See `mfbench_controlled.randomisation.PermutedTarget`.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are too few permutations for the level, or a parameter
        is out of range.

    Notes
    -----
    Takes `n_permutations` + 1 fits of ReliefF, each in O(n² p) time.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_audit.calibrated import PermutedReliefF
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> PermutedReliefF(random_state=0).fit(X, X[:, 3] > 0).get_support(indices=True).tolist()
    [3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: constraint
            for name, constraint in PermutedTarget._parameter_constraints.items()
            if name not in ("selector", "n_estimators")
        },
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_neighbors: int = 10,
        rate: str = "fwer",
        level: float = 0.05,
        n_permutations: int = 39,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.n_neighbors = n_neighbors
        self.rate = rate
        self.level = level
        self.n_permutations = n_permutations
        self.random_state = random_state

    @property
    def selector(self) -> ReliefF:
        """The selector that is fitted to every order."""
        return ReliefF(n_neighbors=self.n_neighbors)
