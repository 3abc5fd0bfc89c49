"""Is a set of weights a local minimum? Theorem 7, checked from scratch with dense linear algebra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Certificate:
    r"""The result of checking a solution of SQP-FW from scratch.

    Attributes
    ----------
    optimal : bool
        Whether all conditions hold within tolerance. If there are hidden ties, this does not prove a local minimum.
    stationarity : float
        Largest entry of the step to the solution of the equality-constrained QP (4) of the tied pairs; 0 at a solution.
    largest_violation : float
        Largest absolute multiplier of a constraint that Lemma 6 would release; beta and gamma divided by theta / n.
    infeasibility : float
        The largest of \|sum w - 1\|, the size of the most negative weight, and the weights held at 0.
    inconsistent : int
        Number of target neighbours that are not the kappa-th nearest hit or the lambda-th nearest miss under w.
    hidden_ties : int
        Number of members outside the active set that are tied with a target neighbour, not counting copies of tied
        members. If there are any, the conditions are necessary but not sufficient.
    n_ties : int
        Number of ties in the active set, not counting the target neighbours themselves.
    """

    optimal: bool
    stationarity: float
    largest_violation: float
    infeasibility: float
    inconsistent: int
    hidden_ties: int
    n_ties: int


def certify(
    X: Floats,
    codes: Ints,
    targets: Ints,
    *,
    w: Floats,
    bar: Floats,
    theta: float,
    ties: list[Ints],
    less: list[Ints],
    need: tuple[int, int],
    zeros: Ints,
) -> Certificate:
    """Check weights and target neighbours.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
    targets : ndarray of shape (n_targets,)
        Samples that have target neighbours.
    w, bar : ndarray of shape (n_features,)
    theta : float
    ties : list of ndarray
        The members of H= of each target, then the members of M= of each; the target neighbour comes first.
    less : list of ndarray
        The members of H< of each target, then those of M<.
    need : (int, int)
        kappa and lambda.
    zeros : ndarray
        Features held at weight 0; others may also have weight 0.

    Returns
    -------
    Certificate

    Notes
    -----
    Time O(n² l + t³) for t tied pairs; memory O(n l), in blocks.
    """
    n_targets = len(targets)
    g = theta / n_targets
    rounding_of_e = 1e-12 * float((np.ptp(X, axis=0) ** 2).max(initial=0.0))
    rows, owner, c = [], [], np.zeros(X.shape[1])
    # For each row: how many copies each tied member has, itself included, and how many members of H< are not copies.
    copies, n_less = [], np.zeros(2 * n_targets, dtype=np.int64)
    inconsistent = hidden = 0
    scale = max(1e-300, max(float(_e(X, targets[t % n_targets], tied[:1])[0] @ w) for t, tied in enumerate(ties)))
    for row in range(2 * n_targets):
        i, kind = targets[row % n_targets], row // n_targets
        members = np.flatnonzero((codes == codes[i]) == (kind == 0))
        members = members[members != i]
        e = _e(X, i, members)
        distances, nearest = e @ w, _e(X, i, ties[row][:1])[0]
        value = nearest @ w
        c += (1.0 - 2.0 * kind) * nearest / n_targets
        inconsistent += abs(np.partition(distances, need[kind] - 1)[need[kind] - 1] - value) > 1e-8 * scale
        near = np.abs(distances - value) <= 1e-9 * scale
        active = np.isin(members, ties[row])
        inconsistent += int(np.count_nonzero(active & (np.abs(distances - value) > 1e-8 * scale)))
        same = np.column_stack([np.abs(e - other).max(axis=1) <= rounding_of_e for other in _e(X, i, ties[row])])
        hidden += int(np.count_nonzero(near & ~active & ~same.any(axis=1)))
        copies.append(same.sum(axis=0))
        n_less[row] = np.count_nonzero(~np.isin(less[row], members[same.any(axis=1)]))
        nearer = int(np.count_nonzero((distances < value) & ~near))
        inconsistent += not nearer <= len(less[row]) <= nearer + np.count_nonzero(near & ~active)
        for member in ties[row][1:]:
            rows.append(_e(X, i, np.array([member]))[0] - nearest)
            owner.append(row)
    free = np.ones(len(w), dtype=bool)
    free[zeros] = False
    A = np.vstack([np.ones(len(w)), *rows])
    lin = bar - theta * c
    # Multipliers by least squares: at a stationary point, lin - w = A' multipliers for the free features. The rows of A
    # are scaled to length 1, so that the scale of the features does not affect which of them count.
    lengths = np.linalg.norm(A[:, free], axis=1)
    lengths[lengths == 0] = 1.0
    multipliers = np.linalg.lstsq((A[:, free] / lengths[:, None]).T, (lin - w)[free], rcond=None)[0] / lengths
    residual = (lin - w)[free] - A[:, free].T @ multipliers
    alpha = (lin - A.T @ multipliers)[~free]
    rounding = 1e-13 * float(np.abs(lin).max())
    worst = _worst_tie(multipliers[1:], np.array(owner, dtype=np.int64), copies, n_less, need, n_targets, g)
    largest = max(float(alpha.max(initial=0.0)), worst)
    stationarity = float(np.abs(residual).max(initial=0.0))
    infeasibility = max(abs(float(w.sum()) - 1.0), float(-w.min(initial=0.0)), float(w[zeros].max(initial=0.0)))
    return Certificate(
        optimal=bool(
            inconsistent == 0
            and infeasibility <= 1e-9
            and stationarity <= 1e-8 + rounding
            and largest <= 1e-6 + rounding
        ),
        stationarity=stationarity,
        largest_violation=largest,
        infeasibility=infeasibility,
        inconsistent=int(inconsistent),
        hidden_ties=hidden,
        n_ties=len(rows),
    )


def _e(X: Floats, i: int, members: Ints) -> Floats:
    return np.asarray((X[members] - X[i]) ** 2)


def _worst_tie(
    extra: Floats, owner: Ints, copies: list[Ints], n_less: Ints, need: tuple[int, int], n_targets: int, g: float
) -> float:
    """Return the largest multiplier that Lemma 6 would release, as a share of g; members move with their copies."""
    worst = 0.0
    for row in np.unique(owner):
        own, kind = extra[owner == row], int(row >= n_targets)
        # The target neighbour comes first, as in ``ties``.
        values, count = np.append((g, -g)[kind] - own.sum(), own), copies[row]
        nearer, farther = n_less[row] + count < need[kind], n_less[row] + count.sum() - count >= need[kind]
        worst = max(worst, float(-values.min(where=nearer, initial=0.0)), float(values.max(where=farther, initial=0.0)))
    return worst / g if g > 0 else 0.0
