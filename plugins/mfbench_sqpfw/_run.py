"""Runs of the compiled algorithms on prepared data: states in, plain arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbench_sqpfw import _state, _steps
from mfbench_sqpfw._start import start
from mfbench_sqpfw._state import Floats, Ints, State

_CHUNK = 4096
# Beyond this range the fourth powers of differences could leave the range of numbers.
_WIDEST = 1e50
# Beyond this the rounding of the loss, theta times squared differences, hides the distance to the prior.
_HEAVIEST = 1e12


@dataclass(frozen=True)
class Prepared:
    """Training data as the algorithms take them: varying features only, samples sorted by class.

    ``order`` and ``features`` lead back to the caller's rows and columns; ``targets`` are positions among the sorted.
    """

    X: Floats
    codes: Ints
    order: Ints
    features: Ints
    targets: Ints
    kappa: int
    lam: int
    bar: Floats
    working_set: int | None


def prepare(
    X: Floats, codes: Ints, kappa: int, lam: int, bar: Floats | None, working_set: int | None, skip: bool
) -> Prepared:
    """Sort samples, drop constant features, find the samples that can be targets.

    Raises
    ------
    ValueError
        If a feature ranges too widely, no sample has ``kappa`` hits and ``lam`` misses, or one has not and ``skip`` is
        False, or ``bar`` does not fit.
    """
    n, p = X.shape
    with np.errstate(over="ignore"):
        widest = float(np.ptp(X, axis=0).max(initial=0.0))
    if widest > _WIDEST:
        raise ValueError(f"a feature ranges over {widest:g}, more than {_WIDEST:g}; standardise the features")
    counts = np.bincount(codes)
    enough = (counts[codes] > kappa) & (n - counts[codes] >= lam)
    if not enough.any():
        raise ValueError(
            f"no sample has {kappa} others of its class and {lam} of other classes; "
            f"lower kappa or lam (the classes have {_listing(counts)} samples)"
        )
    if not (skip or enough.all()):
        raise ValueError(
            f"{np.count_nonzero(~enough)} of {n} samples lack {kappa} others of their class or {lam} of other classes; "
            'lower kappa or lam, or set small_classes="skip"'
        )
    features = np.flatnonzero(np.ptp(X, axis=0) > 0)
    try:
        weights = np.full(p, 1.0 / p) if bar is None else np.asarray(bar, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"w_bar must hold {p} numbers") from None
    if weights.shape != (p,) or not np.isfinite(weights).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError(f"w_bar must hold {p} weights of at least 0 whose sum is 1")
    weights = weights[features]
    if len(features) and weights.sum() <= 0:
        raise ValueError("w_bar is 0 for every feature that varies; give one of them a positive weight")
    order = np.argsort(codes, kind="stable")
    # Distances do not change, and rounding does less harm, when the data are centred.
    X = X[order][:, features]
    return Prepared(
        X=np.ascontiguousarray(X - X.mean(axis=0)),
        codes=codes[order],
        order=order,
        features=features,
        targets=np.flatnonzero(enough[order]),
        kappa=kappa,
        lam=lam,
        bar=weights / weights.sum() if len(features) else weights,
        working_set=working_set,
    )


def begin(data: Prepared, w: Floats | None = None) -> State:
    """Return a state with index sets at w (by default the prior weights), no ties among them."""
    state = _state.build(
        data.X,
        data.codes,
        data.targets,
        data.kappa,
        data.lam,
        data.bar,
        data.bar if w is None else w,
        data.working_set,
    )
    start(state)
    return state


def descend(state: State, theta: float, tolerance: float, max_steps: int) -> tuple[State, int, list[float]]:
    """Run Algorithm 1 from a state; return the state (its arrays may have grown), the status, and f after each step.

    Raises
    ------
    ValueError
        If ``theta`` is too large for the features' scale.
    FloatingPointError
        If the steps are not finite any more.
    """
    trace: list[float] = []
    if theta == 0.0:
        return state, _steps.OPTIMAL, trace
    if theta * _state.squared_range(state) > _HEAVIEST:
        raise ValueError(
            f"theta = {theta:g} times the squared range of the features is more than {_HEAVIEST:g}, and rounding would "
            "hide the distance to w_bar; lower theta or standardise the features"
        )
    while True:
        history = np.empty(min(_CHUNK, max(1, max_steps - len(trace))))
        status, steps = _steps.solve(state, theta, tolerance, min(_CHUNK, max_steps - len(trace)), history)
        trace.extend(history[:steps].tolist())
        if status == _steps.TIES_FULL:
            state = _state.with_more_ties(state)
        elif status == _steps.LOST:
            raise FloatingPointError(
                "the steps are not finite any more; scale the features alike, for example to variance 1"
            )
        elif status in (_steps.OPTIMAL, _steps.STALLED) or len(trace) >= max_steps:
            return state, status, trace


def weights_of(state: State) -> Floats:
    """Return w in the order of the prepared features."""
    w = np.empty(len(state.w))
    w[state.perm] = state.w
    return w


def default_limit(n: int, kappa: int) -> int:
    """Return how many steps are made at most where the caller does not say."""
    return max(20_000, 100 * n * kappa)


def _listing(counts: Ints) -> str:
    shown = ", ".join(map(str, counts[:10]))
    return shown if len(counts) <= 10 else f"{shown}, …"
