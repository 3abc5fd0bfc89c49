"""The lasso and the elastic net as selectors, with a cross-validated penalty, for classes and numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNetCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils import check_random_state

from mfbench_baselines.classifiers import LassoClassifier
from mfbench_baselines.elastic_net import ElasticNet
from mfbench_learners.selectors import NumberSelector, are_numbers

# On standardised columns, from a penalty that leaves almost no weight to one that has almost no effect.
_STRENGTHS = tuple(float(C) for C in np.round(np.geomspace(0.003, 3.0, 10), 6))


class LassoSelector(NumberSelector):
    r"""Absolute weights of the lasso or the elastic net with the penalty that cross-validation selects.

    For a numeric target it minimises

    .. math::
        \frac{1}{2n} \lVert y - Xw - b \rVert^2
        + \alpha \bigl(\rho \lVert w \rVert_1 + \tfrac{1 - \rho}{2} \lVert w \rVert^2\bigr)

    by `sklearn.linear_model.ElasticNetCV` (100 values of :math:`\alpha`, squared error); for classes it uses
    `LassoClassifier`, or `ElasticNet` if :math:`\rho < 1`, one against the rest, with ten values of C from 0.003 to 3,
    scored by log loss. Unused columns have weight exactly 0. The penalty that predicts best keeps more columns than are
    relevant, a well-known property of the lasso.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    cv : int, default=10
        Number of folds; fewer if a class has fewer members.
    l1_ratio : float, default=1.0
        The share ρ of the L1 penalty, above 0 and at most 1; 1 is the lasso. Identical columns share their weight
        unless it is 1.
    random_state : int, RandomState or None, default=None
        Seed of the folds and of the solver for classes.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The largest absolute weight over the classes.
    model_ : LassoClassifier, ElasticNet or sklearn.linear_model.ElasticNetCV
        The fitted model; the last one for numbers.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or fewer than two samples in a class or in total, or `l1_ratio` is out of
        range.

    Notes
    -----
    Takes O(cv · 100 · n_samples · n_features) time per sweep for a numeric target, a tenth of that per class for
    classes. Columns should share a scale, since the penalty treats them alike.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B
    58(1), 1996.

    H. Zou, T. Hastie, "Regularization and variable selection via the elastic net", Journal of the Royal Statistical
    Society B 67(2), 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.lasso import LassoSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> LassoSelector(random_state=0).fit(X, 2 * X[:, 1] - X[:, 3]).get_support(indices=True).tolist()
    [1, 3]
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        cv: int = 10,
        l1_ratio: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.cv = cv
        self.l1_ratio = l1_ratio
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if not 0 < self.l1_ratio <= 1:
            raise ValueError(f"l1_ratio is {self.l1_ratio!r}: use a number above 0 and at most 1")
        seed = int(check_random_state(self.random_state).randint(2**31))
        with warnings.catch_warnings():
            # At the weakest penalties the solver may stop early; they are hardly ever selected.
            warnings.simplefilter("ignore", ConvergenceWarning)
            if are_numbers(y):
                folds = KFold(self._parts(len(y)), shuffle=True, random_state=seed)
                self.model_ = ElasticNetCV(l1_ratio=self.l1_ratio, cv=folds, random_state=seed).fit(X, y)
                return np.asarray(np.abs(self.model_.coef_))
            self._check_classes(y)
            folds = StratifiedKFold(self._parts(int(np.bincount(y).min())), shuffle=True, random_state=seed)
            model = LassoClassifier(random_state=seed) if self.l1_ratio == 1 else ElasticNet(l1_ratio=self.l1_ratio)
            search = GridSearchCV(model, {"C": _STRENGTHS}, scoring="neg_log_loss", cv=folds)
            self.model_ = search.fit(X, y).best_estimator_
        return np.asarray(np.abs(self.model_.coef_).max(axis=0))

    def _parts(self, smallest: int) -> int:
        if smallest < 2:
            raise ValueError(f"LassoSelector needs at least two samples of each class; got {smallest}")
        return min(self.cv, smallest)
