"""IMMIGRATE: margins under a learned distance with a weight for every pair of features."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import MetricTransformer, WeightedMarginClassifier, warn_degenerate
from mfbench_margin._quadratic.cones import CONES, equal_weights, first_matrix, least_bad, pruned
from mfbench_margin._quadratic.layout import TrainingPairs, is_single_enough, lay_out
from mfbench_margin._quadratic.objective import Objective, Point
from mfbench_margin._quadratic.prediction import ExpectedQuadratic
from mfbench_margin._quadratic.solvers import Settings, minimise
from mfbench_margin._soft.fixed_point import ExpectedDistanceClassifier

Matrix = NDArray[np.float64]


def prunes_last(learner: Any) -> bool:
    """Return whether a learner has not pruned, and would only prune what it has learned."""
    return learner.solver != "published" and learner.prune is False


class IMMIGRATE(WeightedMarginClassifier, MetricTransformer, ExpectedDistanceClassifier):
    r"""Learn a distance with weights for features and pairs of features, and classify by it.

    The distance of two samples is :math:`q(x, x') = |x - x'|^T W |x - x'|` with a symmetric W of Frobenius norm 1
    ([1]_, equation 3). Hits and misses of a sample are soft neighbours, with probabilities proportional to
    :math:`e^{-q / \sigma}`; with their optimal values for a given W, the cost ([1]_, equation 5) is

    .. math:: C^*(W) = \sum_n w_n \left[ -\sigma \log \sum_{h \in H_n} e^{-q(x_n, x_h) / \sigma}
              + \sigma \log \sum_{m \in M_n} e^{-q(x_n, x_m) / \sigma} \right],

    whose gradient is :math:`\Sigma = \sum_n w_n (\sum_h \alpha_{nh} |d||d|^T - \sum_m \beta_{nm} |d||d|^T)`. Each step
    goes towards :math:`V = P_K(-\Sigma) / \|P_K(-\Sigma)\|_F`, with :math:`P_K` the projection on a cone of matrices
    ([1]_, theorem 1, with a sign and a square root that are missing in print).

    Parameters
    ----------
    sigma : float, default=1.0
        Softness of the neighbourhoods, in units of q.
    solver : {"monotone", "published"}, default="monotone"
        "monotone" goes towards V as far as the cost decreases, and stops when no direction of the cone promises more;
        "published" jumps to V in every step, which may raise the cost.
    cone : {"psd", "psd_clip", "nonneg", "dnn", "diag"}, default="nonneg"
        Which W are allowed. "nonneg": entries of at least 0, as in the problem of [1]_. "psd": positive semi-definite,
        as in its theorem and in [2]_. "psd_clip": the same with negative entries replaced by 0, as in the authors'
        program; the result need not be optimal in any cone. "dnn": positive semi-definite with entries of at least 0.
        "diag": features only, no pairs.
    prune : bool or float, default=False
        Set entries of W below this to 0 and normalise again; True for 1 / n_features. The published solver prunes after
        every step, the monotone one at the end.
    max_iter : int or None, default=None
        Maximum number of steps; None for 50 with "monotone" and 10 with "published".
    tol : float or None, default=None
        "monotone" stops when :math:`\langle \Sigma, W - V \rangle` is at most tol · max(1, \|C*\|); "published" when C*
        changes by at most that. None for 1e-6 and 1e-4.
    stopping : {"objective", "package"}, default="objective"
        "package": the published solver stops as the authors' R package does, when trace(Σ) changes by at most 0.01.
    init : {"identity", "random"} or array-like of shape (n_features, n_features), default="identity"
        The first W: identity / sqrt(n_features); a symmetric matrix of uniform entries, of norm 1; or this symmetric
        matrix. The published solver uses it unchanged; the monotone one uses the nearest matrix of the cone, with its
        norm reduced to 1 if it is larger.
    degenerate : {"uniform", "ray", "raise"}, default="uniform"
        What to do if no W of the cone keeps misses farther away than hits: warn and use the identity on features that
        vary, with norm 1; warn and use the least bad W (with "dnn" and "psd_clip" the least bad single feature); or
        raise an error.
    importance : {"row_sum", "diagonal"}, default="row_sum"
        Importance of a feature: the sum of its row of \|W\|, which includes its pairs, or its own weight alone.
    output : {"features", "metric"}, default="features"
        What `transform` returns: the features of positive importance, or X mapped by `components_`.
    random_state : int, RandomState instance or None, default=None
        Seed of ``init="random"``.
    precision : {"double", "auto"}, default="auto"
        "auto": with at least 1000 samples, the first steps use single precision, if a bound says that rounding changes
        no distance by more than ``sigma`` / 100, and hence no probability of a neighbour by more than about 2 % of
        itself, and distances do not leave its range; the last ones, the gap and the prediction use double precision.
    n_jobs : int or None, default=None
        Number of threads of a fit with at least 4096 samples; None for 1, -1 for all processors. The result does not
        depend on it.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)
        W, of Frobenius norm 1.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Same as ``matrix_``.
    weights_ : ndarray of shape (n_features,)
        Importance of each feature.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    components_ : ndarray of shape (n_components, n_features)
        Eigenvectors of W with positive eigenvalues, times the roots of the eigenvalues, largest first. Their outer
        products sum to W if W is positive semi-definite: the squared Euclidean distance between mapped rows is then
        :math:`(x - x')^T W (x - x')`, which is q without its absolute values, and no larger than q if W has no negative
        entry.
    objective_trace_ : ndarray of shape (n_steps + 1,)
        C* at every iterate, including the first W.
    gap_ : float
        :math:`\langle \Sigma, W - V \rangle` at the end of the monotone solver: 0 at a stationary point; NaN for the
        published solver.
    n_iter_ : int
        Number of steps taken; 1 also if the first W was stationary.
    converged_ : bool
        Whether the solver stopped by ``tol`` or for lack of a margin; False after ``max_iter`` steps, and if rounding
        errors hide any further descent.
    degenerate_ : bool
        True if no W of the cone has a positive margin.
    sigma_ : float
        The value of ``sigma`` used in prediction.
    single_ : bool
        Whether the first steps used single precision.
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
        If X is not finite or so large that distances overflow, y has fewer than two classes, every sample is alone in
        its class, ``init`` does not fit, pruning leaves nothing, or no W has a margin and ``degenerate="raise"``.

    See Also
    --------
    mfbench_margin.IM4E : The same idea with feature weights only, in the Manhattan distance.
    mfbench_margin.BoostedIMMIGRATE : An ensemble of such learners.

    Notes
    -----
    A step takes O(n² p²) time for the gradient, less if most pairs are too far apart to matter, and O(n² p r) for the
    distances under a W of rank r ("psd"); every pair of samples is visited once. Memory is O(n p + p²), and with up
    to 8192 samples another 8 n² bytes (512 MiB for the largest), for the distances of all pairs under two W.

    The published loop is not block descent, since the cost is maximal, not minimal, in the misses' probabilities; on
    real data its cost increases in a fifth to a half of the steps. The monotone one is the Frank-Wolfe method on the
    same function.

    To read interactions off W, use "psd" or "psd_clip". In 20 simulated datasets of 150 samples, whose class was the
    exclusive or of the signs of two features among four of noise, the largest entry off the diagonal always belonged to
    this pair (``sigma`` 0.5, 1 and 2), and was about 1.8 times the next one. With "nonneg", which predicted better
    (accuracy 0.92 against 0.88), this held for 4 to 9 of the 20: there a pair of an informative feature and noise
    weighs as much as the interaction.

    Features should have comparable scales, and distances should be of the order of ``sigma``: the 1 in the bound of
    ``tol`` has their unit, so on data in tiny units the first W counts as stationary, with a warning. A constant
    feature has weight 0 in every entry. With more than two classes, the samples of all other classes are misses.

    References
    ----------
    .. [1] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.
    .. [2] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Manuscript, 2019.

    Examples
    --------
    The class is the exclusive or of the signs of the first two features: neither is informative alone.

    >>> import numpy as np
    >>> from mfbench_margin import IMMIGRATE
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> immigrate = IMMIGRATE(sigma=0.5).fit(X[:150], y[:150])
    >>> immigrate.feature_importances_.argsort()[-2:].tolist() in ([0, 1], [1, 0])
    True
    >>> immigrate.score(X[150:], y[150:]) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"monotone", "published"})],
        "cone": [StrOptions(set(CONES))],
        "prune": ["boolean", Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "stopping": [StrOptions({"objective", "package"})],
        "init": [StrOptions({"identity", "random"}), "array-like"],
        "degenerate": [StrOptions({"uniform", "ray", "raise"})],
        "importance": [StrOptions({"row_sum", "diagonal"})],
        "output": [StrOptions({"features", "metric"})],
        "random_state": ["random_state"],
        "precision": [StrOptions({"double", "auto"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        sigma: float = 1.0,
        solver: str = "monotone",
        cone: str = "nonneg",
        prune: bool | float = False,
        max_iter: int | None = None,
        tol: float | None = None,
        stopping: str = "objective",
        init: Any = "identity",
        degenerate: str = "uniform",
        importance: str = "row_sum",
        output: str = "features",
        random_state: Any = None,
        precision: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.sigma = sigma
        self.solver = solver
        self.cone = cone
        self.prune = prune
        self.max_iter = max_iter
        self.tol = tol
        self.stopping = stopping
        self.init = init
        self.degenerate = degenerate
        self.importance = importance
        self.output = output
        self.random_state = random_state
        self.precision = precision
        self.n_jobs = n_jobs

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        if self.stopping == "package" and self.solver == "monotone":
            raise ValueError("stopping='package' is a rule of solver='published'; the monotone solver has its own")
        self.fit_pairs(TrainingPairs(X, codes), sample_weights)

    def fit_pairs(
        self, pairs: TrainingPairs, weights: Matrix, stored: Matrix | None = None, *, needs_gap: bool = True
    ) -> Point:
        """Learn W from training data that are laid out already; for ensembles, whose members share the layout.

        Parameters
        ----------
        pairs : TrainingPairs
            The training data.
        weights : ndarray of shape (n_samples,)
            Weight of each sample as a target.
        stored : ndarray or None, default=None
            Distances of all pairs under the first W, if available; in single precision if the first steps are.
        needs_gap : bool, default=True
            Whether ``gap_`` and ``converged_`` are wanted after ``max_iter`` steps.

        Returns
        -------
        Point
            The final W, with the distances of all pairs if these are stored.
        """
        settings = replace(self._settings(pairs.p), needs_gap=needs_gap)
        first = self.first_matrix(pairs.varies)
        fallback = partial(self._fallback, varies=pairs.varies)
        n_threads = effective_n_jobs(self.n_jobs)
        objective = Objective(pairs, float(self.sigma), weights, n_threads)
        self.single_ = self.starts_in_single(pairs)
        rough = Objective(pairs.single, float(self.sigma), weights, n_threads) if self.single_ else None
        solution = minimise(objective, first, settings, fallback, stored, rough)
        # The first W passes by the unit of tol, but not in comparison with the largest distance.
        least = settings.tol * float(objective.weights.sum()) * pairs.largest
        self._is_unmoved = solution.n_iter == 0 and not solution.polar and solution.gap > least
        if self._is_unmoved:
            warn_of_tiny_distances(self)
        point = solution.point
        self.sigma_ = float(self.sigma)
        self._set_matrix(point.W, ExpectedQuadratic(pairs, point.form, self.sigma_))
        self.objective_trace_ = np.array(solution.trace)
        # A solver that takes no step counts as one step: scikit-learn expects at least 1.
        self.n_iter_, self.converged_, self.gap_ = max(1, solution.n_iter), solution.converged, solution.gap
        self.degenerate_ = solution.polar
        self._allowed = settings.tol * max(objective.unit, abs(solution.trace[-1]))
        return point

    def starts_in_single(self, pairs: TrainingPairs) -> bool:
        """Return whether the first steps of a fit to these pairs use single precision."""
        several = self._settings(pairs.p).max_iter > 1
        return several and self.precision == "auto" and is_single_enough(pairs, float(self.sigma))

    def _set_matrix(self, W: Matrix, expected: ExpectedQuadratic) -> None:
        self._expected = expected
        self.matrix_ = self.interaction_importances_ = W
        self._set_weights(np.diag(W).copy() if self.importance == "diagonal" else np.abs(W).sum(axis=1))

    @available_if(prunes_last)
    def with_prune(self, prune: bool | float) -> Self:
        """Return a learner that is fitted as this one is, but with another value of ``prune``, without a new fit.

        Available with ``solver="monotone"`` and ``prune=False``; other fits prune while they learn, or have pruned.

        Parameters
        ----------
        prune : bool or float
            As the parameter.

        Returns
        -------
        IMMIGRATE
            The result of a fit with this value. This learner stays as it is.

        Raises
        ------
        ValueError
            If pruning leaves nothing.

        Examples
        --------
        >>> import numpy as np
        >>> from mfbench_margin import IMMIGRATE
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> whole = IMMIGRATE(cone="psd").fit(X, X[:, 0] > 0)
        >>> pruned = whole.with_prune(0.1)
        >>> int((whole.matrix_ == 0).sum()), bool((pruned.matrix_ == 0).sum() > 0)
        (0, True)
        """
        check_is_fitted(self)
        other: Self = copy(self)
        other.set_params(prune=prune)
        other._validate_params()
        pairs = self._expected.pairs
        threshold = other._settings(pairs.p).threshold
        if threshold is not None and not self.degenerate_:  # what replaces a W without a margin is not pruned
            W = pruned(self.matrix_, threshold)
            other._set_matrix(W, ExpectedQuadratic(pairs, lay_out(W, pairs.width), self.sigma_))
        return other

    def _shortfall(self) -> str | None:
        if self.converged_:
            return None
        settings = self._settings(len(self.weights_))
        allowed = f"tol={settings.tol:.2g} allows {self._allowed:.2g}"
        if settings.package:
            left, remedy = "trace(Σ) changed by more than 0.01", "increase max_iter"
        elif settings.solver == "published":
            change = abs(self.objective_trace_[-1] - self.objective_trace_[-2])
            left, remedy = f"C* changed by {change:.2g} in the last step, and {allowed}", "increase max_iter or tol"
        else:
            left, remedy = f"the gap is {self.gap_:.2g}, and {allowed}", "increase max_iter or tol"
            if self.n_iter_ < settings.max_iter:
                left, remedy = f"{left}, but rounding errors hide any further descent", "increase tol"
        return f"after {self.n_iter_} steps (max_iter={settings.max_iter}) {left}; {remedy}"

    def first_matrix(self, varies: NDArray[np.bool_]) -> Matrix:
        """Return the W that the iterations start from; `varies` is False for constant features."""
        cone = self.cone if self.solver == "monotone" else None
        return first_matrix(self.init, varies, cone=cone, random_state=self.random_state)

    def _settings(self, n_features: int) -> Settings:
        monotone = self.solver == "monotone"
        default_iter, default_tol = (50, 1e-6) if monotone else (10, 1e-4)
        threshold: float | None = None
        # 0.0 is a threshold, which removes negative entries; False means no pruning.
        if not isinstance(self.prune, bool | np.bool_):
            threshold = float(self.prune)
        elif self.prune:
            threshold = 1.0 / n_features
        return Settings(
            solver=self.solver,
            cone=self.cone,
            max_iter=int(self.max_iter or default_iter),
            tol=default_tol if self.tol is None else float(self.tol),
            threshold=threshold,
            package=self.stopping == "package",
        )

    def _fallback(self, slope: Matrix, varies: NDArray[np.bool_]) -> Matrix:
        if self.degenerate == "raise":
            raise ValueError(
                f"IMMIGRATE: no matrix of the cone {self.cone!r} keeps misses farther away than hits; "
                "choose another sigma or cone, or degenerate='uniform'"
            )
        if self.degenerate == "ray" and varies.any():
            warn_degenerate(self, "the least bad matrix of the cone is used")
            return least_bad(slope, self.cone, varies)
        warn_degenerate(self, "equal weights are used")
        return equal_weights(varies)

    @property
    def components_(self) -> Matrix:
        """Rows that map samples to the space of the learned metric, shape (n_components, n_features)."""
        check_is_fitted(self)
        eigenvalues, vectors = np.linalg.eigh(self.matrix_)
        kept = np.flatnonzero(eigenvalues > 1e-12)[::-1]
        rows: Matrix = (vectors[:, kept] * np.sqrt(eigenvalues[kept])).T
        return rows

    def _expected_distances(self, X: Matrix | None) -> Matrix:
        return self._expected.of_training() if X is None else self._expected.of_rows(X)


def warn_of_tiny_distances(estimator: Any) -> None:
    """Warn that the first W was kept because distances are tiny, not because it is good."""
    warnings.warn(
        f"{type(estimator).__name__}: distances are so small in comparison with sigma that the first W, without any "
        "learning, counts as stationary; standardise the features",
        RuntimeWarning,
        stacklevel=4,
    )
