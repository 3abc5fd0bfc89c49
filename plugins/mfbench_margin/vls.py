"""VLS-Relief: a method of the Relief family on random subsets of the features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._family import FamilySelector


class VLSRelief(FamilySelector):
    """Fit the base method to random subsets of the features, and combine the weights of each feature.

    Among many features, distances say little about the few that interact. In a small subset that happens to contain
    all of these, their weights are large [1]_.

    Parameters
    ----------
    base : {"multisurf", "multisurf-star", "relieff", "surf", "surf-star"}, default="multisurf"
        Method of the Relief family. Relief is ``"relieff"`` with one neighbour.
    base_parameters : dict or None, default=None
        Parameters of that method, such as ``{"n_neighbors": 10}``; None for its defaults.
    n_subsets : int, default=50
        Number of subsets. Together they must contain every feature.
    subset_size : int or float, default=0.3
        Number of features in a subset, or their share if it is a float; at most all.
    combine : {"max", "mean"}, default="max"
        Whether the weight of a feature is the largest in the subsets that contain it, or the mean.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are none.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random, also in the base method.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Combined weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
    subsets_ : list of ndarray of int
        Features of each subset.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter fits
        neither X nor the base method.

    See Also
    --------
    mfbench_margin.turf.TuRF : Remove features step by step.

    Notes
    -----
    The time is that of ``n_subsets`` fits of the base method to ``subset_size`` features.

    Subsets are drawn from one random permutation of the features after another, so that all features are drawn almost
    equally often. Features that interact must meet in a subset: with the default, two features miss each other in about
    1 of 100 draws of all subsets, three in about 1 of 4. The largest of many weights is positive for most features, so
    use the ranks rather than the signs.

    A constant feature is in no subset and has weight 0. `get_support` selects positive weights.

    References
    ----------
    .. [1] M. J. Eppstein, P. Haake: Very large scale ReliefF for genome-wide association analysis. IEEE Symposium on
       Computational Intelligence in Bioinformatics and Computational Biology (CIBCB), 2008, pages 112-119.

    Examples
    --------
    The class is the exclusive or of the signs of the first two of forty features.

    >>> import numpy as np
    >>> from mfbench_margin import VLSRelief
    >>> X = np.random.default_rng(0).normal(size=(300, 40))
    >>> vls = VLSRelief(base="multisurf", random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> sorted(np.argsort(-vls.feature_importances_)[:2].tolist())
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FamilySelector._parameter_constraints,
        "n_subsets": [Interval(Integral, 1, None, closed="left")],
        "subset_size": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "combine": [StrOptions({"max", "mean"})],
    }

    def __init__(
        self,
        base: str = "multisurf",
        base_parameters: Mapping[str, Any] | None = None,
        n_subsets: int = 50,
        subset_size: int | float = 0.3,
        combine: str = "max",
        categorical_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.base_parameters = base_parameters
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.combine = combine
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _combine(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], features: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        rng = check_random_state(self.random_state)
        self.subsets_ = list(self._draw(features, rng)) if len(features) else []
        largest, total, count = np.full(X.shape[1], -np.inf), np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for subset in self.subsets_:
            weights = self._base_weights(X, codes, subset, rng)
            largest[subset] = np.maximum(largest[subset], weights)
            total[subset] += weights
            count[subset] += 1.0
        return largest[features] if self.combine == "max" else total[features] / count[features]

    def _draw(self, features: NDArray[np.intp], rng: np.random.RandomState) -> Iterator[NDArray[np.intp]]:
        """Yield the subsets: parts of permutations, the last part filled up from the same one."""
        n_features = len(features)
        share = self.subset_size if self.subset_size >= 1 else np.ceil(self.subset_size * n_features - 1e-9)
        size = int(min(share, n_features))
        needed = -(-n_features // size)
        if self.n_subsets < needed:
            raise ValueError(
                f"{self.n_subsets} subsets of {size} features cannot contain all {n_features} features that vary; "
                f"set n_subsets to at least {needed}, or subset_size to at least {-(-n_features // self.n_subsets)}"
            )
        for k in range(self.n_subsets):
            if k % needed == 0:
                order = rng.permutation(features)
            begin = min(k % needed * size, n_features - size)
            yield np.sort(order[begin : begin + size])
