"""Multifactor dimensionality reduction: pairs of features whose joint levels predict the class."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_information._levels import BINNINGS, levels_of
from mfbench_learners.compiled import njit
from mfbench_learners.selectors import SupervisedSelector

MAX_FEATURES = 5000


class MDR(SupervisedSelector):
    r"""Weigh every pair of features by how well a rule on their joint levels predicts the class of held-out samples.

    With :math:`n_{c}` samples of class *c* in a cell of two features' levels and :math:`N_c` in all, the rule assigns
    the cell to the class of the largest :math:`n_c / N_c`: of two classes, to cases if their share is above average.
    The rule is learned from all folds but one. A pair is weighed by the balanced accuracy of its rules on the left-out
    folds together, minus :math:`1 / C` for *C* classes.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps; None keeps those that add anything.
    bins : int, default=3
        Number of levels of a column with more values than this.
    binning : {"frequency", "width", "mdl"}, default="frequency"
        Levels of equal frequency, equal width, or where the classes change.
    n_folds : int, default=10
        At least 2.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The weight of each feature by itself, or the most that it adds to the weight of another, if that is more.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Weights of the pairs; symmetric, 0 on the diagonal.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are more than 5000 features, or a parameter is out of
        range.

    Notes
    -----
    Takes O(n p²) time and O(p²) memory. A pair with one strong feature has a large weight without any interaction.
    A cell without training samples, or with equal shares, is assigned to the largest class. The weight of a constant
    column is at most 0.

    References
    ----------
    M. D. Ritchie et al., "Multifactor-dimensionality reduction reveals high-order interactions among
    estrogen-metabolism genes in sporadic breast cancer", American Journal of Human Genetics 69(1), 2001.

    D. R. Velez et al., "A balanced accuracy function for epistasis modeling in imbalanced datasets using multifactor
    dimensionality reduction", Genetic Epidemiology 31(4), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_information.mdr import MDR
    >>> X = np.random.default_rng(0).integers(0, 2, size=(100, 5))
    >>> pairs = MDR(random_state=0).fit(X, X[:, 1] ^ X[:, 4]).interaction_importances_
    >>> float(pairs[1, 4])
    0.5
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SupervisedSelector._parameter_constraints,
        "bins": [Interval(Integral, 2, None, closed="left")],
        "binning": [StrOptions(set(BINNINGS))],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        bins: int = 3,
        binning: str = "frequency",
        n_folds: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.bins = bins
        self.binning = binning
        self.n_folds = n_folds
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        n, p = X.shape
        if p > MAX_FEATURES:
            raise ValueError(f"MDR takes at most {MAX_FEATURES} features; X has {p}")
        codes, sizes = levels_of(X, y, self.binning, self.bins)
        folds = _folds(y, min(self.n_folds, n), check_random_state(self.random_state))
        totals = np.bincount(y)
        right = _right(codes.astype(np.int64), sizes.astype(np.int64), y, folds, int(folds.max()) + 1, len(totals))
        weights = (right / totals).mean(axis=2) - 1.0 / len(totals)
        own = np.diag(weights).copy()
        weights = np.triu(weights, 1)
        weights += weights.T
        self.interaction_importances_ = weights
        added = weights - own
        np.fill_diagonal(added, own)
        return np.asarray(added.max(axis=1))


def _folds(y: NDArray[np.int64], n_folds: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Deal the samples to folds, class after class, so that each has its share of every class."""
    order = rng.permutation(len(y))
    classes = list(dict.fromkeys(y[order].tolist()))  # in the order of the samples: their names do not matter
    dealt = np.concatenate([order[y[order] == k] for k in classes])
    folds = np.empty(len(y), dtype=np.int64)
    folds[dealt] = np.arange(len(y)) % n_folds
    return folds


@njit(cache=True)
def _right(codes, sizes, y, folds, n_folds, n_classes):  # pragma: no cover
    """Return how many held-out samples of each class the rule of each pair predicts; of a feature on the diagonal."""
    p, n = codes.shape
    right = np.zeros((p, p, n_classes))
    totals = np.zeros((n_folds, n_classes))
    for i in range(n):
        totals[folds[i], y[i]] += 1
    trained = np.zeros((n_folds, n_classes))
    for f in range(n_folds):
        for c in range(n_classes):
            trained[f, c] = totals[:, c].sum() - totals[f, c]
    largest = sizes.max()
    counts = np.zeros((largest * largest, n_folds, n_classes))
    for j in range(p):
        for k in range(j, p):
            n_cells = sizes[j] * sizes[k]
            counts[:n_cells] = 0.0
            for i in range(n):
                counts[codes[j, i] * sizes[k] + codes[k, i], folds[i], y[i]] += 1
            for cell in range(n_cells):
                for f in range(n_folds):
                    best, share = 0, -1.0
                    for c in range(n_classes):
                        left = -counts[cell, f, c]
                        for g in range(n_folds):
                            left += counts[cell, g, c]
                        # Without a sample of the cell, the shares are 0 and the largest class is taken.
                        own = left / trained[f, c] if trained[f, c] > 0 else 0.0
                        if own > share or (own == share and trained[f, c] > trained[f, best]):
                            best, share = c, own
                    right[j, k, best] += counts[cell, f, best]
    return right
