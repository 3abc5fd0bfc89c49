"""Sums over all pairs of training samples, by threads.

The sums of parts are added in one order: the result does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from mfbench_margin._quadratic.form import Form, Matrix
from mfbench_margin._quadratic.layout import TrainingPairs
from mfbench_margin._quadratic.pair_kernels import scatter, softmin_sums
from mfbench_margin._quadratic.threads import in_parts


def softmins(
    pairs: TrainingPairs, form: Form, stored: Matrix, other: Matrix, step: float, sigma: float, n_threads: int = 1
) -> Matrix:
    """Return -sigma log Σ exp(-q / sigma) over the hits and over the misses of every sample, inf if it has none.

    Parameters
    ----------
    pairs : TrainingPairs
    form : Form
        W.
    stored, other : ndarray
        Distances, if the pairs are stored: stored + step (other - stored).
    step, sigma : float
    n_threads : int, default=1
    """

    def sums(part: int, n_parts: int) -> tuple[Matrix, Matrix]:
        kind = pairs.rows.dtype
        first, second = stored.astype(kind, copy=False), other.astype(kind, copy=False)
        least, total = softmin_sums(
            pairs.rows, pairs.columns, pairs.ends, form.matrix.astype(kind, copy=False), form.triangular, first,
            second, step, pairs.is_stored, sigma, part, n_parts,
        )  # fmt: skip
        return least, total

    leasts, totals = map(np.array, zip(*in_parts(sums, pairs.n, n_threads), strict=True))
    least = leasts.min(axis=0)
    total = np.zeros_like(least)
    for own_least, own_total in zip(leasts, totals, strict=True):
        some = own_total > 0.0
        total[some] += own_total[some] * np.exp((least[some] - own_least[some]) / sigma)
    out: Matrix = np.full_like(least, np.inf)
    some = total > 0.0
    out[some] = least[some] - sigma * np.log(total[some])
    return out


def scatter_matrix(
    pairs: TrainingPairs, form: Form, stored: Matrix, sigma: float, soft: Matrix, weights: Matrix, n_threads: int = 1
) -> Matrix:
    """Return Σ_i weight_i (Σ_h alpha_ih |d||d|^T - Σ_m beta_im |d||d|^T).

    Parameters
    ----------
    pairs, form, stored, sigma, n_threads
        As for `softmins`.
    soft : ndarray of shape (2, n)
        What `softmins` returns.
    weights : ndarray of shape (n,)
        The largest is about 1, because the kernel drops pairs of negligible weight by a fixed bound.
    """

    def sums(part: int, n_parts: int) -> Matrix:
        kind = pairs.rows.dtype
        out: Matrix = scatter(
            pairs.rows, pairs.columns, pairs.ends, form.matrix.astype(kind, copy=False), form.triangular,
            stored.astype(kind, copy=False), pairs.is_stored, sigma, soft, weights, part, n_parts,
        )  # fmt: skip
        return out

    lower = np.sum(in_parts(sums, pairs.n, n_threads), axis=0)[: pairs.p, : pairs.p]
    total: Matrix = np.tril(lower) + np.tril(lower, -1).T
    return total
