"""TuRF: a method of the Relief family, repeated without the features that it ranked last."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from mfbench_margin._family import FamilySelector


class TuRF(FamilySelector):
    """Remove the features of the smallest weights, compute the weights of the others again, and so on.

    Irrelevant features add noise to the distances that determine neighbours. Each iteration fits the base method to
    the remaining features and removes a share of them, until few remain, whose weights are those of a last fit [1]_.

    Parameters
    ----------
    base : {"multisurf", "multisurf-star", "relieff", "surf", "surf-star"}, default="multisurf"
        Method of the Relief family. Relief is ``"relieff"`` with one neighbour.
    base_parameters : dict or None, default=None
        Parameters of that method, such as ``{"n_neighbors": 10}``; None for its defaults.
    removed : float, default=0.25
        Share of the remaining features that an iteration removes, above 0 and below 1. At least one is removed;
        features of the same weight are removed together, or kept if otherwise none would remain.
    n_kept : int, default=10
        Number of features at which to stop. Fewer remain if features of the same weight are removed together.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are none.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random, also in the base method.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Weights in the last fit of the features that remain. Removed features follow, all below 0 and below the
        features that were removed after them; among those removed together, the order of their weights is kept.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
    removed_in_ : ndarray of int, shape (n_features,)
        Iteration in which a feature was removed, from 1; 0 if it remained or is constant.
    n_iter_ : int
        Number of iterations that removed features.
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
    mfbench_margin.vls.VLSRelief : Random subsets of the features.

    Notes
    -----
    The time is that of a fit of the base method, times at most about 1 / ``removed``.

    The original [1]_ removes the same number of features in each iteration. Here it is a share of those that remain, as
    in scikit-rebate, so that the last ones are examined as closely as the first.

    A constant feature has weight 0. `get_support` selects positive weights.

    References
    ----------
    .. [1] J. H. Moore, B. C. White: Tuning ReliefF for genome-wide genetic analysis. EvoBIO, LNCS 4447, 2007, pages
       166-175.

    Examples
    --------
    The class is the exclusive or of the signs of the first two of forty features.

    >>> import numpy as np
    >>> from mfbench_margin import TuRF
    >>> X = np.random.default_rng(0).normal(size=(300, 40))
    >>> turf = TuRF(base="multisurf").fit(X, X[:, 0] * X[:, 1] > 0)
    >>> sorted(np.argsort(-turf.feature_importances_)[:2].tolist())
    [0, 1]
    >>> turf.n_iter_, int((turf.removed_in_ == 0).sum())
    (6, 10)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FamilySelector._parameter_constraints,
        "removed": [Interval(Real, 0, 1, closed="neither")],
        "n_kept": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        base: str = "multisurf",
        base_parameters: Mapping[str, Any] | None = None,
        removed: float = 0.25,
        n_kept: int = 10,
        categorical_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.base_parameters = base_parameters
        self.removed = removed
        self.n_kept = n_kept
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _combine(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], features: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        rng = check_random_state(self.random_state)
        self.removed_in_ = np.zeros(X.shape[1], dtype=np.int64)
        last, kept, self.n_iter_ = np.zeros(X.shape[1]), features, 0
        while len(kept):
            last[kept] = self._base_weights(X, codes, kept, rng)
            if len(kept) <= self.n_kept:
                break
            compared = _rounded(last[kept])
            is_last = compared < _cut(compared, self.removed, int(self.n_kept))
            if not is_last.any():
                break
            self.n_iter_ += 1
            self.removed_in_[kept[is_last]] = self.n_iter_
            kept = kept[~is_last]
        return _below(last, self.removed_in_, kept)[features]


def _rounded(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights to 40 bits of the largest, so that the order of rows does not rank features that are equal."""
    largest = np.abs(weights).max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return weights
    unit = np.ldexp(1.0, int(np.frexp(largest)[1]) - 40)
    return weights if unit == 0.0 else np.rint(weights / unit) * unit


def _cut(weights: NDArray[np.float64], removed: float, n_kept: int) -> float:
    """Return the weight below which features are removed, at least one of them unless all weigh the same."""
    n_left = max(n_kept, min(len(weights) - 1, int(np.ceil(len(weights) * (1.0 - removed) - 1e-9))))
    descending = np.sort(weights)[::-1]
    cut = float(descending[n_left - 1])
    if cut > descending[-1]:
        return cut
    # The smallest weight is that of more features than are to be removed.
    larger = descending[descending > cut]
    return float(larger[-1]) if larger.size else cut


def _below(weights: NDArray[np.float64], removed_in: NDArray[np.int64], kept: NDArray[np.intp]) -> NDArray[np.float64]:
    """Move the weights of removed features below those of all that remained longer, and below 0."""
    moved = weights.copy()
    top = np.abs(weights[kept]).max(initial=0.0) or 1.0
    floor = min(0.0, float(weights[kept].min(initial=0.0)))
    for iteration in range(int(removed_in.max(initial=0)), 0, -1):
        group = removed_in == iteration
        low, high = weights[group].min(), weights[group].max()
        share = (high - weights[group]) / (high - low if high > low else 1.0)
        moved[group] = floor - top * (1.0 + share) / 2.0
        floor -= top
    return moved
