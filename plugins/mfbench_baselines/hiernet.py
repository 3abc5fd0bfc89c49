"""The lasso for hierarchical interactions: a pair may be active only if its features are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mfbench_baselines._classifier import CodedClassifier, one_against_rest, pair_matrix, shares
from mfbench_baselines._columns import strongest
from mfbench_baselines._hiernet_active import solve_weak_active
from mfbench_baselines._hiernet_solver import Problem, solve_strong
from mfbench_learners.estimators import ImportanceSelectorMixin

SMALLEST_SHARE = 0.01
# Number of penalties tried beyond the best so far; the smallest take the longest to fit.
PATIENCE = 4
# Losses whose relative difference is at most this are equal up to rounding.
TIE = 1e-9


class HierNet(ImportanceSelectorMixin, CodedClassifier):
    r"""Logistic regression on features, squares and products, sparse, with hierarchy.

    For standardised features and centred products, with

    .. math:: \eta = b_0 + x^\top (b^+ - b^-) + \tfrac12 \sum_{j \ne k} \Theta_{jk} x_j x_k + \sum_j \Theta_{jj} x_j^2,

    it minimises the loss, a sum over samples, plus [1]_

    .. math:: \lambda \, 1^\top (b^+ + b^-) + \tfrac{\lambda}{2} (\lVert \Theta \rVert_1 + \sum_j |\Theta_{jj}|)

    subject to :math:`b^+, b^- \ge 0` and :math:`\lVert \Theta_j \rVert_1 \le b_j^+ + b_j^-` for each row, which is the
    weak hierarchy: a product needs one of its features. Strong hierarchy also requires :math:`\Theta = \Theta^\top`,
    so a product needs both. More than two classes are fitted one against the rest.

    Parameters
    ----------
    hierarchy : {"weak", "strong"}, default="weak"
        "weak": a product needs one of its features; "strong": it needs both.
    family : {"logistic", "gaussian"}, default="logistic"
        The loss: minus the log-likelihood, or half the sum of squares with the class coded 0 and 1, which is faster.
    relative_penalty : float or None, default=None
        λ as a share of the smallest λ that leaves nothing but the intercept, above 0 and at most 1. None selects it by
        cross-validation.
    n_penalties : int, default=20
        Number of penalties to choose from, evenly spaced on a logarithmic scale from 1 to 0.01. The search ends after
        four in a row without an improvement.
    cv : int, default=10
        Number of folds for that choice; fewer if a class has fewer rows.
    squares : bool, default=True
        Whether squares of features are among the terms.
    max_features : int, default=100
        With more features than this, only those that individually differ most between the classes are used; a pair of
        other features is lost.
    max_iter : int, default=10000
        Maximum number of gradient steps for one penalty.
    tol : float, default=1e-4
        Largest entry of the generalised gradient at the end, as a share of the largest penalty. With strong hierarchy,
        ten times the largest duality gap at the end, as a share of the objective.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Main effects b⁺ - b⁻ of the standardised features: one row for two classes.
    pairs_ : ndarray of shape (1, n_kept, n_kept) or (n_classes, n_kept, n_kept)
        :math:`(\Theta + \Theta^\top) / 2` of the standardised features in `kept_`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts, at the mean of the standardised features and products.
    kept_ : ndarray of shape (n_kept,)
        Features that the fit uses.
    penalties_ : ndarray of shape (1,) or (n_classes,)
        The penalty λ.
    feature_importances_ : ndarray of shape (n_features,)
        The larger of \|b⁺ - b⁻\| and a feature's largest entry in `pairs_`, the largest over the classes.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        The largest absolute entry over the classes in `pairs_`; symmetric, 0 on the diagonal. Not available with more
        than 5000 features, because of its size.
    n_iter_ : int
        Gradient steps of the last fit, for the class that needed most.
    converged_ : bool
        Whether the last fit met `tol` for every class.
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
        If `max_iter` steps do not suffice for the final fit.

    Notes
    -----
    The solver is accelerated proximal gradient descent with restarts; it goes through the penalties from the largest
    down and starts each fit from the previous solution. With weak hierarchy it moves the terms that may differ from 0,
    O(n m) time for m of them, or with at most 80 by Newton's method, O(n m²), and ends by a step of all terms, which
    takes O(n p²) for the gradient and O(p² log p) for the constraints; memory O(n (p + m) + p²). Strong hierarchy uses
    the alternating direction method of multipliers, with a few dozen rounds of at most 20 steps of all terms, until a
    point of the dual problem shows that the minimum is near. A share of 1e-8 of the penalty is quadratic, which makes
    b⁺ and b⁻ unique.
    With "gaussian", probabilities are predictions clipped to [0, 1].

    References
    ----------
    .. [1] J. Bien, J. Taylor, R. Tibshirani, "A lasso for hierarchical interactions", Annals of Statistics 41(3), 2013,
       pages 1111-1141, equations 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.hiernet import HierNet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = X[:, 0] + X[:, 1] + 2 * X[:, 0] * X[:, 1] > rng.normal(size=200)
    >>> model = HierNet(relative_penalty=0.3).fit(X, y)
    >>> model.interaction_importances_.round(1).tolist()[0]
    [0.0, 0.6, 0.0, 0.0]
    """

    def __init__(
        self,
        *,
        hierarchy: str = "weak",
        family: str = "logistic",
        relative_penalty: float | None = None,
        n_penalties: int = 20,
        cv: int = 10,
        squares: bool = True,
        max_features: int = 100,
        max_iter: int = 10000,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.family = family
        self.relative_penalty = relative_penalty
        self.n_penalties = n_penalties
        self.cv = cv
        self.squares = squares
        self.max_features = max_features
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        self._check_parameters()
        self.kept_ = strongest(X, codes, self.max_features)
        X = X[:, self.kept_]
        grid = np.array([1.0]) if self.relative_penalty == 1 else np.geomspace(1.0, SMALLEST_SHARE, self.n_penalties)
        if self.relative_penalty is not None:
            grid = np.append(grid[grid > self.relative_penalty], self.relative_penalty)
        folds = list(self._folds(codes)) if self.relative_penalty is None else []
        targets = one_against_rest(codes, len(self.classes_)).astype(np.float64)
        self._models = [self._fit_one(X, target, grid, folds) for target in targets]
        self.penalties_ = np.array([model.penalty for model in self._models])
        self.intercept_ = np.array([model.intercept for model in self._models])
        main = np.array([model.variables[:, 0] - model.variables[:, 1] for model in self._models])
        rows = np.array([model.variables[:, 2:] for model in self._models])
        self.coef_ = np.zeros((len(main), self.n_features_in_))
        self.coef_[:, self.kept_] = main
        self.pairs_ = 0.5 * (rows + rows.transpose(0, 2, 1))
        self.feature_importances_ = np.zeros(self.n_features_in_)
        self.feature_importances_[self.kept_] = np.maximum(np.abs(main), np.abs(self.pairs_).max(axis=2)).max(axis=0)
        self.n_iter_ = max(model.steps for model in self._models)
        self.converged_ = self.n_iter_ < self.max_iter
        if not self.converged_:
            warnings.warn(
                f"HierNet has not converged after {self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """The largest absolute weight of each pair over the classes, of shape (n_features, n_features)."""
        largest = np.abs(self.pairs_).max(axis=0)
        firsts, seconds = np.nonzero(np.triu(largest, 1))
        named = zip(self.kept_[firsts], self.kept_[seconds], strict=True)
        return pair_matrix(self, dict(zip(named, largest[firsts, seconds], strict=True)))

    def _check_parameters(self) -> None:
        choices = {"hierarchy": ("weak", "strong"), "family": ("logistic", "gaussian")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}; got {getattr(self, name)!r}")
        if self.relative_penalty is not None and not 0 < self.relative_penalty <= 1:
            raise ValueError(f"relative_penalty must be None or above 0 and at most 1; got {self.relative_penalty!r}")
        minimum = {"n_penalties": 2, "cv": 2, "max_features": 1, "max_iter": 1}
        for name, smallest in minimum.items():
            if getattr(self, name) < smallest:
                raise ValueError(f"{name} must be at least {smallest}; got {getattr(self, name)!r}")
        if self.tol <= 0:
            raise ValueError(f"tol must be above 0; got {self.tol!r}")

    def _folds(self, codes: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        smallest = int(np.bincount(codes).min())
        if smallest >= 2:
            splitter = StratifiedKFold(min(self.cv, smallest), shuffle=True, random_state=self.random_state)
        else:
            splitter = KFold(min(self.cv, len(codes)), shuffle=True, random_state=self.random_state)
        yield from splitter.split(codes, codes)

    def _fit_one(
        self,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        grid: NDArray[np.float64],
        folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> _Model:
        """Fit one binary problem; with folds, use the penalty with the smallest loss on held-out rows."""
        scaling = _Scaling(X)
        problem = Problem(scaling(X), target, self.family, self.squares)
        largest = problem.largest_penalty()
        if largest == 0:  # nothing varies with the target
            return _Model(scaling, problem, *problem.start(), 0.0, 0)
        penalties = grid * largest
        if folds:
            penalties = penalties[: self._choose(X, target, penalties, folds) + 1]
        for penalty, (variables, intercept, steps) in self._path(problem, penalties):
            model = _Model(scaling, problem, variables, intercept, penalty, steps)
        return model

    def _choose(
        self,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        penalties: NDArray[np.float64],
        folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> int:
        """Return the index of the penalty with the smallest loss on held-out rows; ties go to the largest penalty.

        Where training rows lack the class or all others, nothing can be learned: such a fold is left out.
        """
        usable = [fold for fold in folds if np.ptp(target[fold[0]]) > 0]
        if not usable:
            return 0
        paths = [self._losses(X, target, penalties, *fold) for fold in usable]
        losses: list[float] = []
        for each in zip(*paths, strict=True):
            losses.append(sum(each))
            if len(losses) - first_minimum(losses) > PATIENCE:
                break
        return first_minimum(losses)

    def _losses(
        self,
        X: NDArray[np.float64],
        target: NDArray[np.float64],
        penalties: NDArray[np.float64],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> Iterator[float]:
        """Yield the loss on test rows for each penalty; everything is learned from the training rows."""
        scaling = _Scaling(X[train])
        problem = Problem(scaling(X[train]), target[train], self.family, self.squares)
        held_out = Problem(scaling(X[test]), target[test], self.family, self.squares)
        held_out.mean_products = problem.mean_products
        share = len(train) / len(X)  # the loss is a sum, so the penalty scales with the rows
        for _, (variables, intercept, _) in self._path(problem, penalties * share):
            yield held_out.loss(held_out.predictor(variables, intercept))

    def _path(
        self, problem: Problem, penalties: NDArray[np.float64]
    ) -> Iterator[tuple[float, tuple[NDArray[np.float64], float, int]]]:
        """Yield each penalty with its solution, from the largest down, each started from the previous one."""
        solve = partial(solve_strong, largest_gap=0.1 * self.tol) if self.hierarchy == "strong" else solve_weak_active
        variables, intercept = problem.start()
        for penalty in penalties:
            variables, intercept, steps = solve(
                problem, penalty, (variables, intercept), tol=self.tol * penalties[0], max_iter=self.max_iter
            )
            yield float(penalty), (variables, intercept, steps)

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        X = X[:, self.kept_]
        scores = np.column_stack([model.predict(X) for model in self._models])
        return shares(expit(scores) if self.family == "logistic" else scores.clip(0.0, 1.0))


def first_minimum(losses: list[float]) -> int:
    """Return the index of the smallest loss, the first of those that are equal up to rounding."""
    values = np.array(losses)
    smallest = values.min()
    return int(np.flatnonzero(values <= smallest + TIE * abs(smallest))[0])


class _Scaling:
    """Centre and scale columns by the statistics of the training rows; constant columns become 0."""

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.mean = X.mean(axis=0)
        self.spread = X.std(axis=0, ddof=1) if len(X) > 1 else np.ones(X.shape[1])
        self.spread[(np.ptp(X, axis=0) == 0) | (self.spread == 0)] = np.inf

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = (X - self.mean) / self.spread
        return scaled


@dataclass
class _Model:
    """One fitted binary problem."""

    scaling: _Scaling
    problem: Problem
    variables: NDArray[np.float64]
    intercept: float
    penalty: float
    steps: int

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.problem.predictor(self.variables, self.intercept, self.scaling(X))
