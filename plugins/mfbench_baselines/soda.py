"""SODA: stepwise conditional likelihood over features, squares and pairwise products."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mfbench_baselines._classifier import CodedClassifier, pair_matrix
from mfbench_baselines._columns import strongest
from mfbench_baselines._multinomial import log_probabilities
from mfbench_baselines._soda_search import Search, Term, values
from mfbench_learners.estimators import ImportanceSelectorMixin


class SODA(ImportanceSelectorMixin, CodedClassifier):
    r"""Select features and pairwise interactions for logistic regression, step by step.

    The criterion for a set *T* of terms, each a feature, a square or a product of two features, is [1]_

    .. math:: \mathrm{EBIC}_\gamma(T) = D(T) + (K - 1)(1 + |T|)(\log n + 2 \gamma \log p),

    where *D* is the deviance of the (multinomial) logistic regression on *T*. SODA first adds features while EBIC
    falls. It then builds a set *S* of features whose squares and products all enter the model; the first three features
    join even if EBIC rises. Finally it removes single terms while EBIC falls, and predicts by the regression on the
    remaining terms.

    Parameters
    ----------
    gamma : float, default=0.5
        The weight γ: 0 gives the Bayesian information criterion; larger values keep fewer terms if there are many
        features.
    max_features : int or None, default=None
        None searches all features. With more features than a given limit, only those that individually differ most
        between the classes are searched: this bounds the time, but loses a pair of other features. The criterion still
        counts all p.
    n_refits : int, default=10
        Number of candidates for addition that each step fits: those with the largest score statistics.

    Attributes
    ----------
    terms_ : list of tuple of int
        The selected terms: ``(j,)`` a feature, ``(j, j)`` a square, ``(j, k)`` a product.
    coef_ : ndarray of shape (n_classes - 1, n_terms)
        Coefficients of the original terms, for each class but the first.
    intercept_ : ndarray of shape (n_classes - 1,)
        Intercepts.
    likelihood_ratios_ : ndarray of shape (n_terms,)
        Rise in deviance if the term is left out.
    feature_importances_ : ndarray of shape (n_features,)
        The largest likelihood ratio among a feature's terms; 0 for a feature without terms.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        The likelihood ratio of each selected product, 0 for other pairs; symmetric, 0 on the diagonal. The terms were
        selected on the same data, so this is not a test. Not available with more than 5000 features, because of its
        size.
    ebic_, deviance_ : float
        Criterion and deviance of the model with the selected terms.
    path_ : list of (str, tuple of int, float)
        Each move: the pass ("main", "interaction", "backward"), the term added or removed, EBIC afterwards.
    separated_ : bool
        Whether the selected terms separate the training classes completely. Coefficients are then large and
        meaningless.
    converged_ : bool
        Whether Newton's method converged for the regression on the selected terms.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Warns
    -----
    ConvergenceWarning
        If Newton's method needs too many steps for the regression on the selected terms.

    Notes
    -----
    Each step predicts the gain of every candidate by one Newton step and fits `n_refits` of them, from the coefficients
    of the model that they extend. Removals start from the information of the model with all terms. A fit ends early
    when a lower bound of its deviance, by duality or from Wald's statistic, shows that another candidate is better. A
    candidate adds m terms to a model of t terms, where m is at most the size of S plus
    2: O(n p m (m + t)) time for all predictions, (K - 1)² times that for K classes, by matrix products over blocks of
    candidates. Memory O(n p).

    Constant features are left out. A ridge of 1e-8 on standardised terms keeps separated and collinear terms finite.
    Products depend on the origin of each feature, so standardise the features first.

    References
    ----------
    .. [1] Y. Li, J. S. Liu, "Robust variable and interaction selection for logistic regression and general index
       models", Journal of the American Statistical Association 114(525), 2019, pages 271-286, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.soda import SODA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 1] + 2 * X[:, 0] * X[:, 3] + 0.5 * rng.normal(size=300) > 0
    >>> SODA(gamma=1.0).fit(X, y).terms_
    [(1,), (0, 3)]
    """

    def __init__(self, *, gamma: float = 0.5, max_features: int | None = None, n_refits: int = 10) -> None:
        self.gamma = gamma
        self.max_features = max_features
        self.n_refits = n_refits

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if self.gamma < 0 or (self.max_features is not None and self.max_features < 1) or self.n_refits < 1:
            raise ValueError(
                "gamma must be at least 0, max_features None or at least 1, and n_refits at least 1; "
                f"got {self.gamma!r}, {self.max_features!r} and {self.n_refits!r}"
            )
        n, p = X.shape
        n_classes = len(self.classes_)
        kept = strongest(X, codes, p if self.max_features is None else self.max_features)
        kept = kept[np.ptp(X[:, kept], axis=0) > 0]  # a constant would turn products into copies of features
        members = (codes[:, None] == np.arange(n_classes)).astype(np.float64)
        cost = (n_classes - 1) * (np.log(n) + 2.0 * self.gamma * np.log(p))
        search = Search(X[:, kept], members, cost, self.n_refits)
        search.run()
        self.path_ = [(stage, _named(term, kept), score) for stage, term, score in search.path]
        self.terms_ = [_named(term, kept) for term in search.terms]
        self.ebic_, self.deviance_ = float(search.criterion), search.fit.deviance
        moments = np.array([search.moments[term] for term in search.terms]).reshape(-1, 2)
        slopes = search.fit.coefficients[1:] / moments[:, 1:]
        self.coef_ = slopes.T
        self.intercept_ = search.fit.coefficients[0] - moments[:, 0] @ slopes
        self.separated_ = bool((self._probabilities(X).argmax(axis=1) == codes).all())
        self.converged_ = search.fit.converged
        if not self.converged_:
            warnings.warn(
                f"SODA: Newton's method has not converged for the regression on the {len(self.terms_)} selected terms; "
                "standardise the features, or raise gamma to select fewer terms",
                ConvergenceWarning,
                stacklevel=3,
            )
        # At least the cost of a term in the criterion; otherwise the term would have been removed.
        ratios = [fit.deviance - search.fit.deviance for fit in search.without(search.terms)]
        self.likelihood_ratios_ = np.array(ratios, dtype=np.float64)
        self.feature_importances_ = np.zeros(p)
        for term, ratio in zip(self.terms_, self.likelihood_ratios_, strict=True):
            features = list(term)
            self.feature_importances_[features] = np.maximum(self.feature_importances_[features], ratio)

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """The likelihood ratio of each product, of shape (n_features, n_features)."""
        ratios = zip(self.terms_, self.likelihood_ratios_, strict=True)
        return pair_matrix(self, {(term[0], term[-1]): ratio for term, ratio in ratios if len(set(term)) == 2})

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        design = np.column_stack([np.ones(len(X)), *(values(X, term) for term in self.terms_)])
        return np.exp(log_probabilities(design, np.vstack([self.intercept_, self.coef_.T])))


def _named(term: Term, kept: NDArray[np.intp]) -> Term:
    return tuple(int(kept[j]) for j in term)
