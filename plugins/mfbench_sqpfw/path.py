"""The regularisation path of SQP-FW: local minima as theta grows (Algorithm 2, corrected)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mfbench_sqpfw import _path_steps as steps
from mfbench_sqpfw import _state
from mfbench_sqpfw._base import WeightedNeighbours
from mfbench_sqpfw._restart import improve
from mfbench_sqpfw._run import Prepared, begin, default_limit, descend, weights_of
from mfbench_sqpfw._state import TIES, Floats, Ints, State
from mfbench_sqpfw._steps import OPTIMAL, STALLED, STEP_LIMIT, objective
from mfbench_sqpfw.weighting import describe

_NAMES = {
    steps.END: "end",
    steps.WEIGHT_VANISHES: "weight vanishes",
    steps.WEIGHT_RETURNS: "weight returns",
    steps.TIE_FORMS: "tie forms",
    steps.TIE_BREAKS: "tie breaks",
}
# A change of w at one theta below this is rounding.
_JUMP = 1e-9
# Weights that differ by less are stored once.
_SAME = 1e-13
# So many breakpoints in a row without progress in theta mean that ties go round in circles; less than this share of a
# leap is none.
_STALLED, _PROGRESS = 50, 1e-3
# Such a point is left by this much, relative to theta, and by Algorithm 1; by twice as much each time that is in vain.
_LEAP = 1e-7
# Restarts that must fail in a row where Algorithm 1 stalls.
_ATTEMPTS = 20


@dataclass(frozen=True)
class Event:
    """What happened at a breakpoint.

    Attributes
    ----------
    theta : float
    kind : str
        "weight vanishes", "weight returns", "tie forms" or "tie breaks"; "restart" where ties stalled the path and
        Algorithm 1 went on from a slightly larger theta; "step limit" or "end".
    feature : int
        The weight's feature, or -1.
    sample, member : int
        The target and the hit or miss whose tie forms or breaks, or -1.
    of_hits : bool
        Whether the member is a hit.
    jump : bool
        Whether w changed at this theta.
    objective_before, objective_after : float
        The objective for this theta before and after the sets changed; equal but for rounding where w does not jump.
    changes : int
        Changes of the active set at this theta, that of ``kind`` included.
    """

    theta: float
    kind: str
    feature: int
    sample: int
    member: int
    of_hits: bool
    jump: bool
    objective_before: float
    objective_after: float
    changes: int


@dataclass(frozen=True)
class WeightPath:
    """Weights as a function of theta: linear between breakpoints, with jumps at some.

    Attributes
    ----------
    thetas : ndarray of shape (n_breakpoints + 1,)
        0 and the breakpoints, not decreasing; the last is the end.
    rows : ndarray of shape (n_breakpoints + 1 + n_jumps, n_features)
        Weights, each stored once: thousands of breakpoints of thousands of features fill the memory.
    reached, left : ndarray of int64, shape (n_breakpoints + 1,)
        In which of the rows stand the weights with which each theta is reached, and left; they differ at jumps.
    events : list of Event
        One for each theta but the first.
    before, after : ndarray of shape (n_breakpoints + 1, n_features)
        The weights with which each theta is reached, and left; made from the rows when asked for.
    """

    thetas: Floats
    rows: Floats
    reached: Ints
    left: Ints
    events: list[Event]

    @property
    def before(self) -> Floats:
        """The weights with which each theta is reached."""
        return self.rows[self.reached]

    @property
    def after(self) -> Floats:
        """The weights with which each theta is left."""
        return self.rows[self.left]

    def weights_at(self, theta: ArrayLike) -> Floats:
        """Return the weights at theta, after the jump if there is one.

        Parameters
        ----------
        theta : float or array-like of float
            Between 0 and the end of the path.

        Returns
        -------
        ndarray of shape (n_features,) or (n_thetas, n_features)

        Raises
        ------
        ValueError
            If a theta is no number, or lies outside the path.
        """
        try:
            wanted = np.asarray(theta, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("theta must be a number or a sequence of numbers") from None
        if wanted.ndim > 1:
            raise ValueError(f"theta must be a number or a sequence of numbers, not a table of shape {wanted.shape}")
        if not ((wanted >= 0) & (wanted <= self.thetas[-1])).all():
            raise ValueError(f"theta must lie between 0 and {self.thetas[-1]:g}, where the path ends")
        flat = np.atleast_1d(wanted)
        left = np.searchsorted(self.thetas, flat, side="right") - 1
        right = np.minimum(left + 1, len(self.thetas) - 1)
        width = self.thetas[right] - self.thetas[left]
        share = np.divide(flat - self.thetas[left], width, out=np.zeros_like(flat), where=width > 0)[:, None]
        weights: Floats = (1.0 - share) * self.rows[self.left[left]] + share * self.rows[self.reached[right]]
        weights[share[:, 0] == 0] = self.rows[self.left[left[share[:, 0] == 0]]]
        return weights[0] if wanted.ndim == 0 else weights

    @property
    def jumps(self) -> Ints:
        """Positions in ``thetas`` where the weights jump."""
        return np.array([k + 1 for k, event in enumerate(self.events) if event.jump], dtype=np.int64)

    @property
    def complete(self) -> bool:
        """Whether the path reached its end."""
        # A breakpoint may lie at the end itself, so the last event need not be "end".
        return not self.events or self.events[-1].kind != "step limit"


class SQPFeatureWeightingPath(WeightedNeighbours):
    """The path of SQP-FW's weights as theta grows from 0 to ``theta_max``.

    Between breakpoints w is linear in theta. At a breakpoint a weight vanishes or returns, or a hit or miss becomes
    tied with a target neighbour or parts from it. Where the new one replaces the target neighbour at once, the old w is
    no local minimum any more: w jumps, and the objective falls. The published algorithm goes on with affine functions
    that do not pass through w there; here Algorithm 1 runs at that theta until w is optimal again.

    Parameters
    ----------
    kappa, lam, w_bar, working_set, tol, small_classes, n_neighbors
        As for `SQPFeatureWeighting`.
    theta_max : float, default=1.0
        Where the path ends.
    max_iter : int, default=None
        Breakpoints, and steps of Algorithm 1 between two of them, at most; None means max(20000, 100 n kappa). A path
        cut short ends with the event "step limit".
    random_state : int, RandomState instance or None, default=None
        Draws the directions of restarts, which only tied data need.

    Attributes
    ----------
    path_ : WeightPath
    weights_, feature_importances_ : ndarray of shape (n_features,)
        At the end of the path.
    thetas_ : ndarray
        0 and the breakpoints.
    n_iter_ : int
        Linear stretches of the path.
    target_hits_, target_misses_, active_set_, n_skipped_, classes_
        At the end of the path, as in `SQPFeatureWeighting`.

    Notes
    -----
    The path starts at theta = 0, where w is ``w_bar``. It is one path of local minima; Algorithm 1 started at ``w_bar``
    may end in others. Where there are ties outside the active set, points of the path need not be local minima.

    References
    ----------
    .. [1] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584, supplement F.

    Examples
    --------
    Seven points, the second hit and the second miss: as theta grows, target neighbours change one after another, and
    the weight moves to the first feature, which tells the classes apart.

    >>> from mfbench_sqpfw import SQPFeatureWeightingPath, toy
    >>> X, y = toy.data()
    >>> fitted = SQPFeatureWeightingPath(kappa=2, theta_max=2.0).fit(X, y)
    >>> fitted.weights_.tolist()
    [1.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedNeighbours._parameter_constraints,
        "kappa": [Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Integral, 1, None, closed="left"), None],
        "theta_max": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kappa: int = 1,
        lam: int | None = None,
        theta_max: float = 1.0,
        w_bar: Any = None,
        working_set: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-10,
        small_classes: str = "skip",
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        self.kappa = kappa
        self.lam = lam
        self.theta_max = theta_max
        self.w_bar = w_bar
        self.working_set = working_set
        self.max_iter = max_iter
        self.tol = tol
        self.small_classes = small_classes
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SQPFeatureWeightingPath:
        """Follow the path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        SQPFeatureWeightingPath
            The fitted classifier and selector, with the weights at the end of the path.
        """
        X, codes = self._check_data(X, y)
        data = self._prepare(X, codes, self.kappa, self.lam)
        self.n_skipped_ = len(X) - len(data.targets)
        generator = check_random_state(self.random_state)
        self.path_, state = trace(data, X.shape[1], float(self.theta_max), float(self.tol), self.max_iter, generator)
        if state is not None:
            describe(self, data, state)
        self.thetas_ = self.path_.thetas
        self.n_iter_ = len(self.path_.events)
        self._set_weights(self.path_.rows[-1].copy())
        self._remember(X, codes, int(self.n_neighbors))
        return self

    def weights_at(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Return the weights at one theta or several; see `WeightPath.weights_at`."""
        check_is_fitted(self)
        return self.path_.weights_at(theta)


def sqpfw_path(X: ArrayLike, y: ArrayLike, theta_max: float = 1.0, **parameters: Any) -> WeightPath:
    """Return the path of SQP-FW's weights from theta = 0 to ``theta_max``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features, no missing values; standardise them.
    y : array-like of shape (n_samples,)
        Class labels.
    theta_max : float, default=1.0
        Where the path ends.
    **parameters
        Further parameters of `SQPFeatureWeightingPath`.

    Returns
    -------
    WeightPath

    Examples
    --------
    >>> from mfbench_sqpfw import sqpfw_path, toy
    >>> path = sqpfw_path(*toy.data(), theta_max=2.0, kappa=2)
    >>> path.weights_at(0.0).tolist()
    [0.5, 0.5]
    """
    return SQPFeatureWeightingPath(theta_max=theta_max, **parameters).fit(X, y).path_


def trace(
    data: Prepared,
    n_features: int,
    theta_max: float,
    tolerance: float,
    limit: int | None,
    generator: np.random.RandomState,
) -> tuple[WeightPath, State | None]:
    """Follow the path for prepared data; no state is returned where no feature varies."""
    if not len(data.features):
        only = np.zeros(1, dtype=np.int64)
        return WeightPath(np.zeros(1), np.zeros((1, n_features)), only, only, []), None
    limit = default_limit(len(data.X), data.kappa) if limit is None else int(limit)
    state = begin(data)
    theta, stalled, leap, last_progress = 0.0, 0, _LEAP, 0.0
    thetas, rows, at, events = [theta], [weights_of(state)], [(0, 0)], []
    while theta < theta_max and (not events or events[-1].kind != "step limit"):
        if state.counts[TIES] == len(state.tie_row) < len(state.w):
            state = _state.with_more_ties(state)
        changes = int(state.counts[_state.CHANGES])
        if stalled < _STALLED + len(state.w):
            found, kind, first, second = steps.advance(state, theta, theta_max)
        else:
            found, kind, first, second = min(theta_max, theta + leap * max(theta, 1e-3)), -1, -1, -1
            leap *= 2.0
        stalled += 1
        if found > last_progress + _PROGRESS * _LEAP * max(last_progress, 1e-3):
            stalled, last_progress = 0, found
        if stalled == 0 and kind != -1:
            leap = _LEAP
        theta = found
        reached, value = weights_of(state), objective(state, theta)
        status = OPTIMAL
        if kind != steps.END:
            state, status, _ = descend(state, theta, tolerance, limit)
        if status == STALLED:
            state, status, *_ = improve(state, status, theta, tolerance, limit, _ATTEMPTS, generator)
            if status == STALLED:
                stalled = _STALLED + len(state.w)
        left = weights_of(state)
        over = status == STEP_LIMIT or len(events) + 1 >= limit
        events.append(
            _event(
                data,
                "step limit" if over else _NAMES.get(kind, "restart"),
                (kind, int(first), int(second)),
                theta,
                (reached, left),
                (value, objective(state, theta)),
                int(state.counts[_state.CHANGES]) - changes,
            )
        )
        thetas.append(theta)
        rows.append(reached)
        if np.abs(left - reached).max() > _SAME:
            rows.append(left)
        at.append((at[-1][1] + 1, len(rows) - 1))
    where = np.array(at, dtype=np.int64).T
    return WeightPath(np.array(thetas), _spread(rows, data.features, n_features), where[0], where[1], events), state


def _event(
    data: Prepared,
    name: str,
    what: tuple[int, int, int],
    theta: float,
    weights: tuple[Floats, Floats],
    values: tuple[float, float],
    changes: int,
) -> Event:
    kind, first, second = what
    of_tie = kind in (steps.TIE_FORMS, steps.TIE_BREAKS)
    n_targets = len(data.targets)
    return Event(
        theta=theta,
        kind=name,
        feature=int(data.features[first]) if kind in (steps.WEIGHT_VANISHES, steps.WEIGHT_RETURNS) else -1,
        sample=int(data.order[data.targets[first % n_targets]]) if of_tie else -1,
        member=int(data.order[second]) if of_tie else -1,
        of_hits=of_tie and first < n_targets,
        jump=bool(np.abs(weights[1] - weights[0]).max() > _JUMP),
        objective_before=float(values[0]),
        objective_after=float(values[1]),
        changes=changes,
    )


def _spread(rows: list[Floats], features: Ints, n_features: int) -> Floats:
    """Move the rows into one table; each is given back at once, so that they are never in memory twice."""
    table = np.zeros((len(rows), n_features))
    for k in range(len(rows) - 1, -1, -1):
        table[k, features] = rows.pop()
    return table
