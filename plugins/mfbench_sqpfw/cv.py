"""SQP-FW with theta, kappa, lambda and k selected by cross-validation along the path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mfbench_sqpfw._active_set.problem import Floats, Ints
from mfbench_sqpfw._active_set.solver import Solver
from mfbench_sqpfw._weighted_neighbours import WeightedNeighbours, embed


class SQPFeatureWeightingCV(WeightedNeighbours):
    """SQP-FW that selects theta, (kappa, lambda) and the number of voting neighbours.

    For each fold and each (kappa, lambda), one path is followed, and the nearest-neighbour classifier is evaluated on
    the test part at ``n_thetas`` points of the path; no fit is made for a single theta. The combination with the fewest
    errors over all folds is used for a path on all the data, up to the selected theta.

    Parameters
    ----------
    neighbourhoods : sequence of (int, int), default=((1, 1), (2, 2), (3, 3))
        Candidates for (kappa, lambda). A candidate is skipped if some fold has no sample with enough hits and misses.
    n_neighbors : int or sequence of int, default=(1, 3, 5)
        Candidates for the number of voting neighbours.
    theta_min, theta_max : float, default=1e-3, 1.0
        Range of theta, covered evenly on a logarithmic scale.
    n_thetas : int, default=100
        Number of points on the path.
    cv : int, splitter or iterable, default=5
        Number of shuffled stratified folds (fewer if the largest class is smaller), or anything scikit-learn accepts.
    rule : {"minimum", "one-standard-error"}, default="minimum"
        Selects the fewest errors, or the largest theta, and so the fewest features, whose error rate is at most one
        standard error above the smallest; the standard error is that of its mean over folds [1]_.
    w_bar, working_set, max_iter, tol, small_classes
        As for `SQPFeatureWeightingPath`.
    random_state : int, RandomState instance or None, default=None
        Source of the shuffling of the folds and of the random directions of restarts, which only tied data need.

    Attributes
    ----------
    theta_, kappa_, lam_, n_neighbors_ : float, int, int, int
        The selected parameters: among equal errors the largest theta, which keeps the fewest features, then the first
        candidates. With the rule of one standard error, the fewest errors decide among the candidates at its theta.
    cv_errors_ : ndarray of shape (n_neighbourhoods, n_numbers_of_neighbours, n_thetas)
        Error rate on the test parts; NaN for skipped candidates.
    thetas_ : ndarray of shape (n_thetas,)
    path_ : WeightPath
        Path on all the data, up to ``theta_``.
    n_iter_ : int
        Number of its linear segments.
    weights_, feature_importances_, target_hits_, target_misses_, active_set_, n_skipped_, classes_
        As in `SQPFeatureWeighting`, at ``theta_``.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, "Classification and regression trees", Wadsworth,
           1984, section 3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_sqpfw import SQPFeatureWeightingCV
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    >>> X[:, 1] += 2 * y
    >>> fitted = SQPFeatureWeightingCV(n_thetas=5, random_state=0).fit(X, y)
    >>> int(fitted.weights_.argmax())
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedNeighbours._parameter_constraints,
        "neighbourhoods": ["array-like"],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "theta_min": [Interval(Real, 0, None, closed="neither")],
        "theta_max": [Interval(Real, 0, None, closed="neither")],
        "n_thetas": [Interval(Integral, 1, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"]), Iterable],
        "rule": [StrOptions({"minimum", "one-standard-error"})],
    }

    def __init__(
        self,
        neighbourhoods: Sequence[tuple[int, int]] = ((1, 1), (2, 2), (3, 3)),
        n_neighbors: Any = (1, 3, 5),
        theta_min: float = 1e-3,
        theta_max: float = 1.0,
        n_thetas: int = 100,
        cv: Any = 5,
        rule: str = "minimum",
        w_bar: Any = None,
        working_set: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-10,
        small_classes: str = "skip",
        random_state: Any = None,
    ) -> None:
        super().__init__(w_bar, working_set, max_iter, tol, small_classes, random_state)
        self.neighbourhoods = neighbourhoods
        self.n_neighbors = n_neighbors
        self.theta_min = theta_min
        self.theta_max = theta_max
        self.n_thetas = n_thetas
        self.cv = cv
        self.rule = rule

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SQPFeatureWeightingCV:
        """Select the parameters and weigh the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        SQPFeatureWeightingCV
            The fitted classifier and selector.
        """
        X, codes = self._check_data(X, y)
        if self.theta_min > self.theta_max:
            raise ValueError(f"theta_min = {self.theta_min} must not be larger than theta_max = {self.theta_max}")
        self.thetas_ = np.geomspace(float(self.theta_min), float(self.theta_max), int(self.n_thetas))
        # The ends of a geometric grid may be off by rounding.
        self.thetas_[-1] = float(self.theta_max)
        pairs = [(kappa, lam) for kappa, lam in _whole_numbers("neighbourhoods", self.neighbourhoods, "pairs of ", 2)]
        candidates = _whole_numbers("n_neighbors", np.atleast_1d(self.n_neighbors), "", 1)
        solver = self._solver()
        wrong, sizes = self._wrong_by_fold(X, codes, pairs, candidates, solver)
        self.cv_errors_ = wrong.sum(axis=0) / sizes.sum()
        # Theta first and backwards, so that among equal errors argmin returns the largest theta.
        by_theta = np.nan_to_num(self.cv_errors_, nan=np.inf).transpose(2, 0, 1)[::-1]
        if self.rule == "one-standard-error":
            least = wrong.reshape(len(wrong), -1)[:, np.nanargmin(self.cv_errors_)]
            limit = np.nanmin(self.cv_errors_) + _standard_error(least, sizes)
            first = (by_theta <= limit).any(axis=(1, 2)).argmax()
            by_theta[:first], by_theta[first + 1 :] = np.inf, np.inf
        at, pair, k = (int(index) for index in np.unravel_index(by_theta.argmin(), by_theta.shape))
        self.theta_, (self.kappa_, self.lam_) = float(self.thetas_[::-1][at]), pairs[pair]
        self.n_neighbors_ = candidates[k]
        problem = self._problem(X, codes, kappa=self.kappa_, lam=self.lam_)
        solution = self._follow(problem, solver, theta_max=self.theta_)
        return self._set_solution(solution, X, codes, n_neighbors=self.n_neighbors_)

    def _wrong_by_fold(
        self,
        X: Floats,
        codes: Ints,
        pairs: list[tuple[int, int]],
        candidates: list[int],
        solver: Solver,
    ) -> tuple[Floats, Ints]:
        """Return the wrong predictions by fold, pair, number of neighbours and theta, and the sizes of the folds."""
        folds, theta_max = self._folds(X, codes, solver.generator), float(self.thetas_[-1])
        wrong = np.zeros((len(folds), len(pairs), len(candidates), len(self.thetas_)))
        for fold, (train, test) in enumerate(folds):
            for at, (kappa, lam) in enumerate(pairs):
                try:
                    problem = self._problem(X[train], codes[train], kappa=kappa, lam=lam)
                except ValueError:
                    # Too few samples for this candidate; if that holds for all, the first one raises below.
                    wrong[:, at] = np.nan
                    continue
                path, _ = solver.follow(problem, theta_max=theta_max)
                reached = np.minimum(self.thetas_, path.thetas[-1])
                for t, weights in enumerate(path.weights_at(reached)):
                    wrong[fold, at, :, t] += _wrong(X, codes, train, test, weights, candidates)
        if np.isnan(wrong).all():
            kappa, lam = pairs[0]
            self._problem(X[folds[0][0]], codes[folds[0][0]], kappa=kappa, lam=lam)
        return wrong, np.array([len(test) for _, test in folds])

    def _folds(self, X: Floats, codes: Ints, generator: np.random.RandomState) -> list[tuple[Ints, Ints]]:
        cv = self.cv
        if isinstance(cv, Integral):
            n_folds = max(2, min(int(cv), int(np.bincount(codes).max())))
            cv = StratifiedKFold(n_folds, shuffle=True, random_state=generator.randint(2**31 - 1))
        folds = list(check_cv(cv, codes, classifier=True).split(X, codes))
        if not folds or any(len(train) == 0 or len(test) == 0 for train, test in folds):
            raise ValueError("cv must make one or more folds, each with samples to train on and samples to test on")
        return folds


def _standard_error(wrong: Floats, sizes: Ints) -> float:
    """Return the standard error of an error rate from its spread between folds; 0 for a single fold."""
    rates = wrong / sizes
    return float(rates.std(ddof=1) / np.sqrt(len(rates))) if len(rates) > 1 else 0.0


def _whole_numbers(name: str, candidates: Any, what: str, ndim: int) -> Any:
    """Return candidates as lists of int, or raise ValueError if they are not whole numbers of at least 1."""
    try:
        table = np.asarray(candidates)
    except ValueError:
        table = np.zeros(0)
    fits = table.ndim == ndim and len(table) and (ndim == 1 or table.shape[1] == 2)
    if not fits or table.dtype.kind not in "iu" or table.min() < 1:
        raise ValueError(f"{name} must hold one or more {what}whole numbers of at least 1")
    return table.tolist()


def _wrong(X: Floats, codes: Ints, train: Ints, test: Ints, weights: Floats, candidates: list[int]) -> Floats:
    """Return the number of wrong predictions for each number of neighbours; among equal votes the first class wins."""
    largest = min(max(candidates), len(train))
    neighbours = NearestNeighbors(n_neighbors=largest).fit(embed(X[train], weights))
    labels = codes[train][neighbours.kneighbors(embed(X[test], weights), return_distance=False)]
    votes = np.zeros((len(test), int(codes.max()) + 1))
    wrong = np.zeros(len(candidates))
    for k in range(1, largest + 1):
        votes[np.arange(len(test)), labels[:, k - 1]] += 1
        missed = np.count_nonzero(votes.argmax(axis=1) != codes[test])
        for at, candidate in enumerate(candidates):
            if candidate == k or (candidate > largest and k == largest):
                wrong[at] = missed
    return wrong
