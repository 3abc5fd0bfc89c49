"""Tests against random features or random targets: the conditional randomisation test, and permuted targets."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.covariance import ledoit_wolf
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mfbench_controlled.corrected import RATES, corrected, evidence
from mfbench_learners.selectors import NumberSelector, are_numbers, fitted_strength, responses_of, standardised

Floats = NDArray[np.float64]
_FOLDS = 5


class ConditionalRandomisation(NumberSelector):
    r"""Select features that explain y better than features drawn at random, given all the others.

    Features, standardised, are taken for Gaussian with the shrunken correlation of the data, so that feature *j* given
    the others is normal with a linear mean. Of the feature, this mean is subtracted, which leaves :math:`r_j` with
    variance :math:`\sigma_j^2`; of the response, what a lasso of the other features explains, which leaves
    :math:`E_j`, one column for numbers or for two classes, else one for each class. Features drawn at random have

    .. math:: r_j^\top E_j (E_j^\top E_j)^+ E_j^\top r_j / \sigma_j^2 \sim \chi^2_{\mathrm{rank} E_j},

    which gives the p-value without any draw (the distilled test, [2]_).

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, those of the smallest p-values first; None keeps the significant
        ones, and the promise with them.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    rate : {"fdr", "fdr-dependent", "fwer", "fpr"}, default="fdr"
        What is at most `level`; see `CorrectedTests`.
    level : float, default=0.05
        Above 0 and below 1.
    random_state : int, RandomState or None, default=None
        Seed of the folds that choose the penalty.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        :math:`\log_{10}(\text{level} / p)` of the corrected p-value: positive if it is below the level.
    p_values_ : ndarray of shape (n_features,)
        Before the correction; a constant column has 1.
    corrected_p_values_ : ndarray of shape (n_features,)
        After the correction.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are fewer than five samples, or a parameter is out of
        range.

    Notes
    -----
    The penalty is chosen once, by 5-fold cross-validation on all features. A feature that this lasso does not use
    changes nothing by its absence; for each of the others the lasso is fitted again without it. Takes
    O(n p² + p³) time and one fit for each feature in use. The p-value depends on the correlation being right: with
    fewer samples than features it is an estimate of few.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson, J. Lv, "Panning for gold: model-X knockoffs for high dimensional controlled
       variable selection", Journal of the Royal Statistical Society B 80(3), 2018.
    .. [2] M. Liu, E. Katsevich, L. Janson, A. Ramdas, "Fast and powerful conditional randomization testing via
       distillation", Biometrika 109(2), 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_controlled.randomisation import ConditionalRandomisation
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> ConditionalRandomisation(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [3, 7]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "rate": [StrOptions(set(RATES))],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        rate: str = "fdr",
        level: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.rate = rate
        self.level = level
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if len(X) < _FOLDS:
            raise ValueError(f"ConditionalRandomisation needs at least {_FOLDS} samples; n_samples = {len(X)}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        Z, varies = standardised(X)
        self.p_values_ = np.ones(X.shape[1])
        if varies.any():
            self.p_values_[varies] = _conditional_p_values(Z, responses_of(y), seed)
        self.corrected_p_values_ = corrected(self.p_values_, self.rate)
        return evidence(self.corrected_p_values_, self.level)


def _conditional_p_values(Z: Floats, responses: Floats, seed: int) -> Floats:
    n, p = Z.shape
    precision = np.linalg.inv(ledoit_wolf(Z, assume_centered=True)[0])
    variances = 1.0 / np.diag(precision)
    own = Z @ (precision * variances)  # each feature minus its mean given the others
    left = np.empty((p, n, responses.shape[1]))
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # At the weakest penalties the solver may stop early; they are hardly ever selected.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k, response in enumerate(responses.T):
            whole = LassoCV(cv=folds, random_state=seed).fit(Z, response)
            left[:, :, k] = response - whole.predict(Z)
            for j in np.flatnonzero(whole.coef_):
                others = np.delete(Z, j, axis=1)
                left[j, :, k] = response
                if others.shape[1]:
                    left[j, :, k] -= Lasso(whole.alpha_, random_state=seed).fit(others, response).predict(others)
    p_values = np.ones(p)
    for feature, rest in enumerate(left):
        values, vectors = np.linalg.eigh(rest.T @ rest)
        kept = values > 1e-10 * max(values[-1], np.finfo(float).tiny)
        scores = (own[:, feature] @ rest @ vectors[:, kept]) ** 2 / values[kept]
        p_values[feature] = chi2.sf(scores.sum() / variances[feature], max(1, int(kept.sum())))
    return p_values


class PermutedTarget(NumberSelector):
    r"""Select features whose importance is larger than those that a selector finds where there is nothing to find.

    The selector is fitted to the data, and *B* times to the same rows with y in random order. With :math:`w_j` the
    absolute importances and :math:`w_j^{(b)}` those of a random order, the p-value of a feature is

    .. math:: p_j = \frac{1 + \#\{b : \max_k w_k^{(b)} \ge w_j\}}{1 + B}

    for the probability of any false selection where no feature is relevant [1]_, or the same without the maximum, with
    :math:`w_j^{(b)}`, for each feature by itself [2]_.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the significant ones.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    selector : estimator or None, default=None
        Has ``feature_importances_`` or ``coef_`` after ``fit(X, y)``; the parameter ``random_state`` is set if there is
        one. None: a random forest.
    n_estimators : int, default=100
        Number of trees of that forest.
    rate : {"fwer", "fpr"}, default="fwer"
        What is at most `level`: the probability of any false selection, or the share of irrelevant features that are
        selected.
    level : float, default=0.05
        Above 0 and below 1.
    n_permutations : int, default=39
        *B*; at least 1 / `level` - 1, since no p-value is smaller than 1 / (1 + *B*).
    random_state : int, RandomState or None, default=None
        Seed of the orders, and of the selector if it has one.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Positive if selected. For "fwer", absolute importances minus the largest that is not significant; for "fpr", the
        logarithm of a number just above `level`, divided by the p-value.
    p_values_ : ndarray of shape (n_features,)
        :math:`p_j`.
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
    Takes *B* + 1 fits of the selector. A permutation tests whether any feature is relevant at all: beside a relevant
    feature, one that is correlated with it counts as relevant too, and a strong feature that draws importance from the
    others makes the test conservative for them.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", Wiley, 1993.
    .. [2] A. Altmann, L. Toloşi, O. Sander, T. Lengauer, "Permutation importance: a corrected feature importance
       measure", Bioinformatics 26(10), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from mfbench_controlled.randomisation import PermutedTarget
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> y = X[:, 3] + np.random.default_rng(1).normal(size=100)
    >>> PermutedTarget(selector=Ridge(), random_state=0).fit(X, y).get_support(indices=True).tolist()
    [3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "selector": [HasMethods(["fit"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "rate": [StrOptions({"fwer", "fpr"})],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        selector: Any = None,
        n_estimators: int = 100,
        rate: str = "fwer",
        level: float = 0.05,
        n_permutations: int = 39,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.selector = selector
        self.n_estimators = n_estimators
        self.rate = rate
        self.level = level
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        needed = int(np.ceil(1.0 / self.level - 1e-9)) - 1
        if self.n_permutations < needed:
            raise ValueError(
                f"n_permutations must be at least {needed} for level={self.level}; got {self.n_permutations}"
            )
        rng = check_random_state(self.random_state)
        selector = self.selector
        if selector is None:
            kind = RandomForestRegressor if are_numbers(y) else RandomForestClassifier
            selector = kind(n_estimators=self.n_estimators, n_jobs=1)
        weights = fitted_strength(selector, X, y, int(rng.randint(2**31)))
        at_least = np.zeros(X.shape[1])
        for _ in range(self.n_permutations):
            order = rng.permutation(len(y))
            noise = fitted_strength(selector, X, y[order], int(rng.randint(2**31)))
            at_least += (noise.max() if self.rate == "fwer" else noise) >= weights
        self.p_values_ = (1.0 + at_least) / (1.0 + self.n_permutations)
        # p-values are multiples of 1 / (1 + B), of which this many are at most the level.
        significant = int((1.0 + self.n_permutations) * self.level + 1e-9)
        passes = at_least < significant
        if self.rate == "fwer":
            return np.asarray(weights - weights[~passes].max(initial=0.0))
        return np.log10((significant + 0.5) / (1.0 + at_least))
