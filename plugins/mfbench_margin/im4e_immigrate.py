"""IM4E-IMMIGRATE, for many features: IMMIGRATE among the heaviest features of IM4E; and its boosted form."""

from __future__ import annotations

import warnings
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import WeightedMarginClassifier, varying
from mfbench_margin._soft.fixed_point import ExpectedDistanceClassifier
from mfbench_margin.boosted import BoostedIMMIGRATE, Learn, Rounds
from mfbench_margin.im4e import IM4E
from mfbench_margin.immigrate import IMMIGRATE, prunes_last

Matrix = NDArray[np.float64]
# A matrix of all features is only created up to this size: 200 MB.
LARGEST_MATRIX = 5000
_NOT_TAKEN = ("init", "random_state")
_SCREEN: dict[str, list[Any]] = {
    "threshold": [Interval(Real, 0, None, closed="left")],
    "max_features": [Interval(Integral, 1, None, closed="left")],
}


def screen(weights: Matrix, threshold: float, max_features: int, varies: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the features whose weight exceeds `threshold` times the mean weight, in ascending order.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Non-negative.
    threshold : float
        In units of the mean over the features that vary.
    max_features : int
        Maximum number of features, the heaviest ones; ties go to the lowest index.
    varies : ndarray of bool, shape (n_features,)
        False for a constant feature.

    Returns
    -------
    ndarray of int

    Notes
    -----
    If no weight is large enough, the two heaviest features are kept, with a warning if there are others.

    Examples
    --------
    >>> import numpy as np
    >>> screen(np.array([0.1, 0.6, 0.0, 0.3]), 1.0, max_features=200, varies=np.full(4, True)).tolist()
    [1, 3]
    """
    heaviest = np.argsort(-weights, kind="stable")
    count = int((weights > threshold * (weights.sum() / max(1, np.count_nonzero(varies)))).sum())
    if count == 0:
        count = 2
        if len(weights) > count:
            warnings.warn(
                f"no feature weighs more than {threshold:g} times the mean; the two heaviest are kept. Lower threshold",
                UserWarning,
                stacklevel=3,
            )
    return np.sort(heaviest[: min(count, max_features)])


class _Screened:
    """Attributes of a learner that only has a matrix of the kept features."""

    kept_: NDArray[np.int64]
    kept_matrix_: Matrix
    n_features_in_: int

    @property
    def matrix_(self) -> Matrix:
        """W among all features, with zeros for those that are not kept; created on access."""
        check_is_fitted(self)
        if self.n_features_in_ > LARGEST_MATRIX:
            raise AttributeError(
                f"matrix_ would have {self.n_features_in_} x {self.n_features_in_} entries; "
                "kept_matrix_ holds those of the features in kept_"
            )
        W = np.zeros((self.n_features_in_, self.n_features_in_))
        W[np.ix_(self.kept_, self.kept_)] = self.kept_matrix_
        return W

    @property
    def interaction_importances_(self) -> Matrix:
        """Same as ``matrix_``."""
        return self.matrix_


class IM4EIMMIGRATE(_Screened, WeightedMarginClassifier, ExpectedDistanceClassifier):
    r"""Keep the features with the largest weights in IM4E, and learn IMMIGRATE's matrix among them (EGT).

    IM4E's weights w sum to 1. Features with :math:`w_a > t` are kept, :math:`t` being ``threshold`` divided by the
    number of features that vary; IMMIGRATE starts from their weights as a diagonal matrix, divided by its norm ([1]_,
    section 3.6).

    Parameters
    ----------
    sigma : float, default=1.0
        Softness of the neighbourhoods, in units of the distance of IM4E and of q in IMMIGRATE.
    threshold : float, default=2.0
        Only features with more than this times the mean weight are kept; 2 in [1]_, 1 in its manuscript of 2019.
    max_features : int, default=200
        Maximum number of features to keep, the heaviest: W has the square of this number of entries.
    solver, cone, prune, max_iter, tol
        See `mfbench_margin.IMMIGRATE`.
    precision, n_jobs
        Of the second stage; see `mfbench_margin.IMMIGRATE`.

    Attributes
    ----------
    kept_ : ndarray of int, shape (n_kept,)
        The kept features, in ascending order.
    kept_matrix_ : ndarray of shape (n_kept, n_kept)
        W among them.
    matrix_, interaction_importances_ : ndarray of shape (n_features, n_features)
        W with zeros for all other features; created on access, and not available for more than 5000 features.
    weights_, feature_importances_ : ndarray of shape (n_features,)
        Row sums of \|W\|.
    im4e_ : IM4E
        The first stage.
    immigrate_ : IMMIGRATE
        The second stage, fitted to the kept features.
    objective_trace_, n_iter_, converged_, degenerate_
        Of the second stage.
    sigma_ : float
        The value of ``sigma`` used in prediction.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit and hence no margin, so means are
        taken over the other samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        As `mfbench_margin.IMMIGRATE` does.

    Notes
    -----
    Time O(n² p) for a step of IM4E and O(n² k²) for one of IMMIGRATE with k kept features. A feature that matters only
    together with another one may be lost in the first stage.

    References
    ----------
    .. [1] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_margin import IM4EIMMIGRATE
    >>> X = np.random.default_rng(0).normal(size=(60, 500))
    >>> y = np.arange(60) % 2
    >>> X[:, 7] += 4 * y
    >>> int(IM4EIMMIGRATE().fit(X, y).feature_importances_.argmax())
    7
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": IMMIGRATE._parameter_constraints["sigma"],
        **_SCREEN,
        **{
            name: IMMIGRATE._parameter_constraints[name]
            for name in ("solver", "cone", "prune", "max_iter", "tol", "precision", "n_jobs")
        },
    }

    def __init__(
        self,
        sigma: float = 1.0,
        threshold: float = 2.0,
        max_features: int = 200,
        solver: str = "monotone",
        cone: str = "nonneg",
        prune: bool | float = False,
        max_iter: int | None = None,
        tol: float | None = None,
        precision: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.sigma = sigma
        self.threshold = threshold
        self.max_features = max_features
        self.solver = solver
        self.cone = cone
        self.prune = prune
        self.max_iter = max_iter
        self.tol = tol
        self.precision = precision
        self.n_jobs = n_jobs

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # `_shortfall` tells of the second stage
            self.im4e_ = first_stage(self.sigma, X, codes, sample_weights)
            self.kept_ = screen(self.im4e_.weights_, float(self.threshold), int(self.max_features), varying(X))
            self.immigrate_ = IMMIGRATE(
                self.sigma, self.solver, self.cone, self.prune, self.max_iter, self.tol,
                init=first_matrix(self.im4e_.weights_[self.kept_]), precision=self.precision, n_jobs=self.n_jobs,
            ).fit(X[:, self.kept_], codes, sample_weights)  # fmt: skip
        self._set_stage(self.immigrate_)

    def _set_stage(self, second: IMMIGRATE) -> None:
        self.immigrate_, self.kept_matrix_ = second, second.matrix_
        importances = np.zeros(self.n_features_in_)
        importances[self.kept_] = second.weights_
        self._set_weights(importances)
        self.sigma_, self.objective_trace_ = second.sigma_, second.objective_trace_
        self.n_iter_, self.converged_, self.degenerate_ = second.n_iter_, second.converged_, second.degenerate_

    @available_if(prunes_last)
    def with_prune(self, prune: bool | float) -> Self:
        """Return a learner that is fitted as this one is, but with another value of ``prune``.

        Parameters
        ----------
        prune : bool or float
            As the parameter.

        Returns
        -------
        IM4EIMMIGRATE
            The result of a fit with this value. This learner stays as it is.

        Raises
        ------
        ValueError
            If pruning leaves nothing.

        See Also
        --------
        mfbench_margin.IMMIGRATE.with_prune : The second stage, which alone depends on it.
        """
        check_is_fitted(self)
        other: Self = copy(self)
        other.set_params(prune=prune)
        other._set_stage(self.immigrate_.with_prune(prune))
        return other

    def _shortfall(self) -> str | None:
        shortfall: str | None = self.immigrate_._shortfall()
        return shortfall

    def _expected_distances(self, X: Matrix | None) -> Matrix:
        expected: Matrix = self.immigrate_._expected_distances(None if X is None else X[:, self.kept_])
        return expected


def first_stage(sigma: float, X: Matrix, codes: NDArray[np.int64], sample_weights: Matrix | None) -> IM4E:
    """Return a fitted IM4E, without a warning: its few steps suffice to rank features, whether they settle or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        im4e: IM4E = IM4E(sigma=sigma).fit(X, codes, sample_weights)
    return im4e


def first_matrix(weights: Matrix) -> Matrix:
    """Return a diagonal matrix of norm 1; equal entries if all weights are 0."""
    norm = float(np.linalg.norm(weights))
    return np.diag(weights / norm if norm > 0 else np.full(len(weights), len(weights) ** -0.5))


class BoostedIM4EIMMIGRATE(_Screened, BoostedIMMIGRATE):  # type: ignore[override]  # a property replaces the attribute
    """Boost IM4E-IMMIGRATE (B4G): features are screened once, and all rounds start from their weights.

    Parameters
    ----------
    n_estimators, sigma_max, sigma_min, schedule, boost_update, perfect, solver, cone, prune, max_iter
        See `mfbench_margin.BoostedIMMIGRATE`.
    threshold, max_features
        See `mfbench_margin.IM4EIMMIGRATE`.
    screen : {"once", "per-round"}, default="once"
        "once": IM4E with ``sigma_max``, before boosting. "per-round": in every round, with its sigma and sample
        weights. The papers leave this open; "per-round" takes the time of IM4E on all features in every round.
    precision, n_jobs
        Of each learner; see `mfbench_margin.IMMIGRATE`.

    Attributes
    ----------
    kept_ : ndarray of int, shape (n_kept,)
        The features that any learner uses.
    kept_matrix_ : ndarray of shape (n_kept, n_kept)
        Mean W among them, weighted by the learners' votes, of Frobenius norm 1.
    matrix_, interaction_importances_ : ndarray of shape (n_features, n_features)
        The same among all features; created on access, and not available for more than 5000 features.
    estimators_features_ : list of ndarray of int
        The features of each learner.
    weights_, feature_importances_, estimators_, estimators_matrices_, estimator_weights_, estimator_errors_, sigmas_
        See `mfbench_margin.BoostedIMMIGRATE`.
    sample_weight_, n_iter_, degenerate_, classes_, n_skipped_, n_features_in_, feature_names_in_
        See `mfbench_margin.BoostedIMMIGRATE`.

    Raises
    ------
    ValueError
        As `mfbench_margin.IMMIGRATE` does.

    Notes
    -----
    `mfbench_margin.BoostedIMMIGRATE` among the kept features [1]_, after one fit of IM4E, or one per round.

    References
    ----------
    .. [1] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_margin import BoostedIM4EIMMIGRATE
    >>> X = np.random.default_rng(0).normal(size=(60, 500))
    >>> y = np.arange(60) % 2
    >>> X[:, 7] += 2 * y
    >>> int(BoostedIM4EIMMIGRATE(n_estimators=5).fit(X, y).feature_importances_.argmax())
    7
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in BoostedIMMIGRATE._parameter_constraints.items() if k not in _NOT_TAKEN},
        **_SCREEN,
        "screen": [StrOptions({"once", "per-round"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        sigma_max: float = 4.0,
        sigma_min: float = 0.2,
        schedule: str = "published",
        boost_update: str = "published",
        perfect: str = "keep",
        solver: str = "monotone",
        cone: str = "nonneg",
        prune: bool | float = False,
        max_iter: int | None = 5,
        threshold: float = 2.0,
        max_features: int = 200,
        screen: str = "once",
        precision: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_estimators, sigma_max, sigma_min, schedule, boost_update, perfect, solver, cone, prune, max_iter,
            precision=precision, n_jobs=n_jobs,
        )  # fmt: skip
        self.threshold = threshold
        self.max_features = max_features
        self.screen = screen

    def _learn(self, X: Matrix, codes: NDArray[np.int64], sample_weights: Matrix) -> None:
        self._boost(self._rounds(X, codes), sample_weights > 0)
        self.kept_ = np.unique(np.concatenate([learner.features_ for learner in self.estimators_]))
        self.kept_matrix_ = self._mean_matrix(self.kept_)
        importances = np.zeros(X.shape[1])
        importances[self.kept_] = np.abs(self.kept_matrix_).sum(axis=1)
        self._set_weights(importances)

    def _rounds(self, X: Matrix, codes: NDArray[np.int64]) -> Learn:
        """Return the function that makes the learner of a round."""

        def screened(sigma: float, weights: Matrix | None) -> Rounds:
            w = first_stage(sigma, X, codes, weights).weights_
            kept = screen(w, float(self.threshold), int(self.max_features), varying(X))
            return Rounds(self, X, codes, first_matrix(w[kept]), features=kept)

        if self.screen == "once":
            return screened(float(self.sigma_max), None).learn
        return lambda sigma, D: screened(sigma, D).learn(sigma, D)

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The features of each learner."""
        return [learner.features_ for learner in self.estimators_]
