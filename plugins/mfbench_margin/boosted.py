"""Boosted IMMIGRATE: an ensemble of learners with sample weights and ever smaller neighbourhoods."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._learner import ScoreClassifier
from mfbench_margin._quadratic.layout import TrainingPairs, lay_out
from mfbench_margin._quadratic.prediction import ExpectedQuadratic
from mfbench_margin.immigrate import IMMIGRATE, warn_of_tiny_distances

Matrix = NDArray[np.float64]
FEW = 0.2  # a share of learners kept below this is worth a warning
# From sigma and sample weights to a learner and a mask of the training samples that it misclassifies.
Learn = Callable[[float, Matrix], tuple[IMMIGRATE, NDArray[np.bool_]]]


class BoostedIMMIGRATE(ScoreClassifier):
    r"""Boost IMMIGRATE with a sigma that decreases from round to round (BIM).

    Round t learns W with sample weights :math:`D_t` and

    .. math:: \sigma_t = \sigma_{\max} (\sigma_{\min} / \sigma_{\max})^{(t - 1) / T},

    predicts every training sample from the others, and has the weighted error :math:`\epsilon_t`. A learner
    with an error of at least 1 - 1 / K, K classes, is discarded (see `perfect` for error 0). Any other has the vote
    :math:`a_t = \frac12 \log \frac{1 - \epsilon_t}{\epsilon_t}` (plus :math:`\frac12 \log(K - 1)`), and :math:`D_t` is
    multiplied by :math:`e^{a_t}` for samples that it misclassifies, and normalised ([1]_, algorithm 3). The class with
    the largest sum of votes is predicted.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds T; there may be fewer learners.
    sigma_max, sigma_min : float, default=4.0, 0.2
        First and last sigma.
    schedule : {"published", "inclusive"}, default="published"
        "published" would reach ``sigma_min`` one round after the last; "inclusive" reaches it in the last round.
    boost_update : {"published", "adaboost"}, default="published"
        Factor of the weights of misclassified samples: :math:`e^{a_t}` as published, or AdaBoost's :math:`e^{2 a_t}`,
        after which the weighted error of the last learner would be one half.
    perfect : {"keep", "discard"}, default="keep"
        A learner without error is kept with the error 1 / (2 n), which ends the boosting; or discarded, as published.
    solver, cone, prune, max_iter, init
        Of each learner; see `mfbench_margin.IMMIGRATE`.
    random_state : int, RandomState instance or None, default=None
        Seed of ``init="random"``, which draws another W in every round.
    precision, n_jobs
        Of each learner; see `mfbench_margin.IMMIGRATE`.

    Attributes
    ----------
    estimators_ : list of IMMIGRATE
        The learners that were kept.
    estimators_matrices_ : list of ndarray of shape (n_features, n_features)
        Their W.
    estimator_weights_, estimator_errors_, sigmas_ : ndarray of shape (n_kept,)
        Their :math:`a_t`, :math:`\epsilon_t` and :math:`\sigma_t`.
    sample_weight_ : ndarray of shape (n_samples,)
        :math:`D` after the last round.
    matrix_, interaction_importances_ : ndarray of shape (n_features, n_features)
        Mean of the learners' W, weighted by :math:`a_t`, of Frobenius norm 1.
    weights_, feature_importances_ : ndarray of shape (n_features,)
        Its row sums, in absolute values.
    n_iter_ : int
        Number of rounds.
    degenerate_ : bool
        True if every learner was discarded; the one with the smallest error is then used.
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

    Warns
    -----
    RuntimeWarning
        If fewer than a fifth of the learners are kept.
    ConvergenceWarning
        If ``max_iter=None`` and learners stopped before they converged: one warning with the number of such rounds.
        With a number, learners are stopped early on purpose, and there is no warning.

    Notes
    -----
    A round takes the time of its steps of IMMIGRATE, and one pass over pairs for its error. All rounds share the layout
    of the data, and if the first W is fixed, the distances under it: with up to 8192 samples, those of all pairs under
    three W are in memory, 10 to 12 n² bytes. Prediction takes the time of all learners together.

    The votes of `predict_proba` are not calibrated.

    References
    ----------
    .. [1] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_margin import BoostedIMMIGRATE
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> boosted = BoostedIMMIGRATE(n_estimators=10).fit(X[:150], y[:150])
    >>> boosted.score(X[150:], y[150:]) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "sigma_max": [Interval(Real, 0, None, closed="neither")],
        "sigma_min": [Interval(Real, 0, None, closed="neither")],
        "schedule": [StrOptions({"published", "inclusive"})],
        "boost_update": [StrOptions({"published", "adaboost"})],
        "perfect": [StrOptions({"discard", "keep"})],
        **{name: IMMIGRATE._parameter_constraints[name] for name in ("solver", "cone", "prune", "max_iter", "init")},
        "random_state": ["random_state"],
        **{name: IMMIGRATE._parameter_constraints[name] for name in ("precision", "n_jobs")},
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
        init: Any = "identity",
        random_state: Any = None,
        precision: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.sigma_max = sigma_max
        self.sigma_min = sigma_min
        self.schedule = schedule
        self.boost_update = boost_update
        self.perfect = perfect
        self.solver = solver
        self.cone = cone
        self.prune = prune
        self.max_iter = max_iter
        self.init = init
        self.random_state = random_state
        self.precision = precision
        self.n_jobs = n_jobs

    def _learn(self, X: Matrix, codes: NDArray[np.int64], sample_weights: Matrix) -> None:
        random_state = check_random_state(self.random_state)
        self._boost(Rounds(self, X, codes, self.init, random_state).learn, sample_weights > 0)
        self.matrix_ = self.interaction_importances_ = self._mean_matrix(np.arange(X.shape[1]))
        self._set_weights(np.abs(self.matrix_).sum(axis=1))

    def _boost(self, learn: Learn, targets: NDArray[np.bool_]) -> None:
        """Set the learners and their attributes; `learn` makes the learner of a round, judged on the targets."""
        if self.sigma_min > self.sigma_max:
            raise ValueError(f"sigma_min is {self.sigma_min:g}, larger than sigma_max, which is {self.sigma_max:g}")
        D = targets / targets.sum()
        learners: list[IMMIGRATE] = []
        records: list[tuple[float, float, float]] = []
        spare: tuple[float, IMMIGRATE, float] | None = None
        self.n_iter_ = self._n_unsettled = n_perfect = n_unmoved = 0
        for sigma in self._sigmas():
            self.n_iter_ += 1
            learner, wrong = learn(float(sigma), D)
            self._n_unsettled += not learner.converged_
            n_unmoved += learner._is_unmoved
            wrong &= targets
            error = float(D[wrong].sum())
            if spare is None or error < spare[0]:
                spare = error, learner, float(sigma)
            is_perfect = not wrong.any()
            n_perfect += is_perfect
            # After AdaBoost's update the last learner has an error of exactly 1/2: rounding must not decide.
            if error >= 1 - 1 / len(self.classes_) - 1e-9 or (is_perfect and self.perfect == "discard"):
                continue
            if is_perfect:
                error = 1 / (2 * len(targets))
            a = 0.5 * float(np.log((1 - error) / error) + np.log(len(self.classes_) - 1))
            learners.append(learner)
            records.append((a, error, float(sigma)))
            if is_perfect:
                break
            D = np.where(wrong, D * np.exp(2 * a if self.boost_update == "adaboost" else a), D)
            D /= D.sum()
        self.degenerate_ = not learners
        if n_unmoved == self.n_iter_:
            warn_of_tiny_distances(self)
        if len(learners) < FEW * self.n_iter_:
            self._warn_of_few(len(learners), n_perfect if self.perfect == "discard" else 0)
        if not learners:
            assert spare is not None
            learners, records = [spare[1]], [(1.0, spare[0], spare[2])]
        self.estimators_, self.sample_weight_ = learners, D
        self.estimator_weights_, self.estimator_errors_, self.sigmas_ = np.array(records).T

    def _warn_of_few(self, n_kept: int, n_perfect: int) -> None:
        n_bad = self.n_iter_ - n_kept - n_perfect
        reasons = [
            f"{n_perfect} misclassified no training row (perfect='keep' would keep the first such learner, and end the "
            "boosting with it)"
            if n_perfect
            else "",
            f"{n_bad} were no better than chance" if n_bad else "",
        ]
        warnings.warn(
            f"{type(self).__name__} keeps {n_kept} of {self.n_iter_} learners"
            + (", and uses the one with the smallest error" if not n_kept else "")
            + ": "
            + " and ".join(filter(None, reasons)),
            RuntimeWarning,
            stacklevel=6,
        )

    def _shortfall(self) -> str | None:
        if self.max_iter is not None or not self._n_unsettled:
            return None
        return (
            f"in {self._n_unsettled} of {self.n_iter_} rounds IMMIGRATE stopped after its default number of steps; "
            "set max_iter to more"
        )

    def _sigmas(self) -> Matrix:
        last = self.n_estimators - 1 if self.schedule == "inclusive" else self.n_estimators
        first, ratio = float(self.sigma_max), float(self.sigma_min) / float(self.sigma_max)
        sigmas: Matrix = first * ratio ** (np.arange(self.n_estimators) / max(last, 1))
        return sigmas

    @property
    def estimators_matrices_(self) -> list[Matrix]:
        """The W of each learner."""
        return [learner.matrix_ for learner in self.estimators_]

    def _mean_matrix(self, kept: NDArray[np.int64]) -> Matrix:
        """Return the learners' mean W among the kept features, which include those of every learner."""
        total = np.zeros((len(kept), len(kept)))
        for a, learner in zip(self.estimator_weights_, self.estimators_, strict=True):
            own = np.searchsorted(kept, learner.features_)
            total[np.ix_(own, own)] += a * learner.matrix_
        norm = float(np.linalg.norm(total))
        return total / norm if norm > 0 else total

    def predict_proba(self, X: Any) -> Matrix:
        """Return the share of votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        votes = self._scores(self._check_rows(X))
        shares: Matrix = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def _scores(self, X: Matrix) -> Matrix:
        votes = np.zeros((len(X), len(self.classes_)))
        rows = np.arange(len(X))
        for a, learner in zip(self.estimator_weights_, self.estimators_, strict=True):
            votes[rows, learner._distances_of(X[:, learner.features_]).argmin(axis=1)] += a
        return votes


class Rounds:
    """What the rounds of boosting share: the layout of the data and the distances under the first W.

    Parameters
    ----------
    boosted : BoostedIMMIGRATE
        The ensemble whose parameters the learners have.
    X : ndarray of shape (n_samples, n_features)
        All features.
    codes : ndarray of int, shape (n_samples,)
    init : "identity", "random" or ndarray of shape (n_kept, n_kept)
    random_state : RandomState
    features : ndarray of int or None, default=None
        The features that the learners use; None for all.
    """

    def __init__(
        self,
        boosted: BoostedIMMIGRATE,
        X: Matrix,
        codes: NDArray[np.int64],
        init: Any,
        random_state: Any = None,
        features: NDArray[np.int64] | None = None,
    ) -> None:
        self.boosted, self.codes, self.init, self.random_state = boosted, codes, init, random_state
        self.features = np.arange(X.shape[1]) if features is None else features
        X = X[:, self.features]
        self.pairs = TrainingPairs(X, codes)
        self.stored: Matrix | None = None

    def _learner(self, sigma: float) -> IMMIGRATE:
        own = self.boosted
        return IMMIGRATE(
            sigma, own.solver, own.cone, own.prune, own.max_iter, init=self.init, random_state=self.random_state,
            precision=own.precision, n_jobs=own.n_jobs,
        )  # fmt: skip

    def _stored(self, learner: IMMIGRATE) -> Matrix | None:
        """Return the distances under the first W if all learners begin with the same one, in the precision of this."""
        if isinstance(self.init, str) and self.init == "random":
            return None
        pairs = self.pairs.single if learner.starts_in_single(self.pairs) else self.pairs
        if self.stored is None or self.stored.dtype != pairs.rows.dtype:
            first = lay_out(learner.first_matrix(pairs.varies), pairs.width)
            self.stored = pairs.distances(first, effective_n_jobs(self.boosted.n_jobs))
        return self.stored if len(self.stored) else None

    def learn(self, sigma: float, D: Matrix) -> tuple[IMMIGRATE, NDArray[np.bool_]]:
        """Return a learner and a mask of the training samples that it misclassifies, each predicted from the others."""
        learner = self._learner(sigma)
        with warnings.catch_warnings():
            # A learner without a margin is judged by its error like any other.
            warnings.filterwarnings("ignore", message="IMMIGRATE: (on average|distances)", category=RuntimeWarning)
            # After a given number of steps, nobody asks whether they were enough.
            needs_gap = self.boosted.max_iter is None
            point = learner.fit_pairs(self.pairs, D, self._stored(learner), needs_gap=needs_gap)
        learner.features_ = self.features
        nearest = ExpectedQuadratic(self.pairs, point.form, sigma).of_training(point.stored).argmin(axis=1)
        return learner, nearest != self.codes
