"""Stability selection: features that a selector picks again and again on halves of the data."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval

from mfbench_learners.selectors import NumberSelector, are_numbers, fitted_strength, responses_of, standardised

Floats = NDArray[np.float64]


class StabilitySelection(NumberSelector):
    r"""Select features that are among the first *q* of a selector on a share of random halves of the data.

    Each of `n_pairs` times the rows are split into two halves, and the selector picks its first *q* features on each.
    A feature is selected if it was picked on a share of at least `threshold` of the halves. For features that the
    selector picks no more often than at random, the expected number of selected ones is at most

    .. math:: \frac{q^2}{(2 \tau - 1) p},

    with :math:`\tau` the threshold [1]_, [2]_; *q* is the largest number for which this is at most `false_selections`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, those picked most often first; None keeps the selected features,
        and the promise with them.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    selector : estimator or None, default=None
        Has ``feature_importances_`` or ``coef_`` after ``fit(X, y)``, whose *q* largest absolute values are picked; the
        parameter ``random_state`` is set if there is one. None: the order in which features enter the path of the
        lasso, for classes that of an indicator of each.
    false_selections : float, default=1.0
        Bound on the expected number of irrelevant features that are selected.
    threshold : float, default=0.75
        Above 0.5 and at most 1.
    n_pairs : int, default=50
        Number of pairs of halves.
    random_state : int, RandomState or None, default=None
        Seed of the halves.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Frequency minus a number just below the threshold: positive if selected.
    frequencies_ : ndarray of shape (n_features,)
        Share of the halves on which each feature was picked.
    n_picked_ : int
        *q*.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are fewer than four samples, or a parameter is out of
        range.

    Notes
    -----
    Takes 2 · `n_pairs` fits of the selector on halves. Rows are split within each class, so that both halves have all
    classes of two or more rows.

    References
    ----------
    .. [1] N. Meinshausen, P. Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72(4), 2010.
    .. [2] R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at stability selection",
       Journal of the Royal Statistical Society B 75(1), 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_controlled.stability import StabilitySelection
    >>> X = np.random.default_rng(0).normal(size=(120, 40))
    >>> y = X[:, 3] - X[:, 17] + np.random.default_rng(1).normal(size=120)
    >>> StabilitySelection(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [3, 17]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "selector": [HasMethods(["fit"]), None],
        "false_selections": [Interval(Real, 0, None, closed="neither")],
        "threshold": [Interval(Real, 0.5, 1, closed="right")],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        selector: Any = None,
        false_selections: float = 1.0,
        threshold: float = 0.75,
        n_pairs: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.selector = selector
        self.false_selections = false_selections
        self.threshold = threshold
        self.n_pairs = n_pairs
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if len(X) < 4:
            raise ValueError(f"StabilitySelection needs at least four samples; n_samples = {len(X)}")
        p, rng = X.shape[1], check_random_state(self.random_state)
        bound = self.false_selections * (2.0 * self.threshold - 1.0) * p
        self.n_picked_ = min(p, max(1, math.floor(math.sqrt(bound) + 1e-9)))
        picks = np.zeros(p)
        for _ in range(self.n_pairs):
            is_first = _half(y, rng)
            for rows in (is_first, ~is_first):
                picks[self._picked(X[rows], y[rows], int(rng.randint(2**31)))] += 1
        self.frequencies_ = picks / (2 * self.n_pairs)
        # Frequencies are multiples of 1 / (2 n_pairs).
        return np.asarray(self.frequencies_ - self.threshold + 0.25 / self.n_pairs)

    def _picked(self, X: Floats, y: NDArray[Any], seed: int) -> NDArray[np.intp]:
        if self.selector is None:
            strength = _entry_penalties(X, y, self.n_picked_)
        else:
            strength = fitted_strength(self.selector, X, y, seed)
        order = np.argsort(-strength, kind="stable")[: self.n_picked_]
        return order[strength[order] > 0]


def _half(y: NDArray[Any], rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Return a random half of the rows, of each class if y holds classes."""
    groups = np.zeros(len(y), dtype=np.int64) if are_numbers(y) else y
    is_first = np.zeros(len(y), dtype=bool)
    order = rng.permutation(len(y))
    for k in dict.fromkeys(groups[order].tolist()):  # so that the names of the classes do not matter
        rows = order[groups[order] == k]
        # Of an odd number, the middle one goes to either half.
        is_first[rows[: (len(rows) + int(rng.randint(2))) // 2]] = True
    return is_first


def _entry_penalties(X: Floats, y: NDArray[Any], count: int) -> Floats:
    """Return the penalty at which each feature enters the path of the lasso, among the first; 0 for the others."""
    Z, varies = standardised(X)
    largest = np.zeros(X.shape[1])
    places = np.flatnonzero(varies)
    for response in responses_of(y).T:
        if len(places) and response.any():
            with warnings.catch_warnings():
                # The path ends where two features are the same.
                warnings.simplefilter("ignore", ConvergenceWarning)
                penalties, _, path = lars_path_gram(
                    Xy=Z.T @ response, Gram=Z.T @ Z, n_samples=len(Z), method="lasso", max_iter=2 * count + 10
                )
            for j, row in zip(places, path, strict=True):
                entered = np.flatnonzero(row)
                if len(entered):
                    # The coefficient is 0 at the penalty at which the feature enters.
                    largest[j] = max(largest[j], penalties[max(entered[0] - 1, 0)])
    return largest
