"""Training data as the solver takes them: checked, varying features only, samples sorted by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Beyond this range the fourth powers of differences could overflow.
_WIDEST = 1e50


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Data, prior weights and neighbourhood of one fit; theta is not part of it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_varying)
        The features that vary, centred.
    codes : ndarray of shape (n_samples,)
        Class codes, ascending.
    order, features : ndarray of int64
        The caller's row of each sample and column of each feature.
    targets : ndarray of shape (n_targets,)
        Samples with enough hits and misses, as positions in X.
    kappa, lam : int
    bar : ndarray of shape (n_varying,)
        Prior weights with sum 1.
    working_set : int or None
        Number of watched members in each row; None watches all.
    n_features : int
        Number of the caller's columns.
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
    n_features: int


def prepare(
    X: Floats,
    codes: Ints,
    *,
    kappa: int,
    lam: int,
    bar: ArrayLike | None = None,
    working_set: int | None = None,
    skip: bool = True,
) -> Problem:
    """Sort samples, drop constant features and find the samples that can be targets.

    Raises
    ------
    ValueError
        If the range of a feature is too large, no sample has ``kappa`` hits and ``lam`` misses, some sample has not and
        ``skip`` is False, or ``bar`` does not fit.
    """
    with np.errstate(over="ignore"):
        widest = float(np.ptp(X, axis=0).max(initial=0.0))
    if widest > _WIDEST:
        raise ValueError(f"a feature ranges over {widest:g}, more than {_WIDEST:g}; standardise the features")
    enough = _has_enough_neighbours(codes, kappa, lam, skip)
    features = np.flatnonzero(np.ptp(X, axis=0) > 0)
    order = np.argsort(codes, kind="stable")
    # Centring leaves distances unchanged and reduces rounding.
    sorted_X = X[order][:, features]
    return Problem(
        X=np.ascontiguousarray(sorted_X - sorted_X.mean(axis=0)),
        codes=codes[order],
        order=order,
        features=features,
        targets=np.flatnonzero(enough[order]),
        kappa=kappa,
        lam=lam,
        bar=_prior(bar, X.shape[1], features),
        working_set=working_set,
        n_features=X.shape[1],
    )


def _has_enough_neighbours(codes: Ints, kappa: int, lam: int, skip: bool) -> NDArray[np.bool_]:
    """Return which samples have ``kappa`` hits and ``lam`` misses."""
    counts = np.bincount(codes)
    enough: NDArray[np.bool_] = (counts[codes] > kappa) & (len(codes) - counts[codes] >= lam)
    if not enough.any():
        raise ValueError(
            f"no sample has {kappa} others of its class and {lam} of other classes; "
            f"lower kappa or lam (the classes have {_listing(counts)} samples)"
        )
    if not (skip or enough.all()):
        raise ValueError(
            f"{np.count_nonzero(~enough)} of {len(codes)} samples lack {kappa} others of their class or {lam} of other "
            'classes; lower kappa or lam, or set small_classes="skip"'
        )
    return enough


def _prior(bar: ArrayLike | None, n_features: int, features: Ints) -> Floats:
    """Return the prior weights of the varying features, rescaled to sum 1."""
    try:
        weights = np.full(n_features, 1.0 / n_features) if bar is None else np.asarray(bar, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"w_bar must hold {n_features} numbers") from None
    fits = weights.shape == (n_features,) and np.isfinite(weights).all()
    if not fits or (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
        raise ValueError(f"w_bar must hold {n_features} weights of at least 0 whose sum is 1")
    weights = weights[features]
    if len(features) and weights.sum() <= 0:
        raise ValueError("w_bar is 0 for every feature that varies; give one of them a positive weight")
    return weights / weights.sum() if len(features) else weights


def _listing(counts: Ints) -> str:
    sizes = ", ".join(map(str, counts[:10]))
    return sizes if len(counts) <= 10 else f"{sizes}, …"
