"""The posterior from the rows of a linear kernel: O(n² a) for a active features, without the kernel of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from mfbench_relevance._evidence.posterior import Posterior, Problem, Vector


@dataclass(frozen=True)
class RowProblem(Problem):
    r"""A response and features as vectors: k = Z^T t, and Z^T Z is the kernel of features.

    With the covariance of the response, :math:`C = \sigma^2 I + Z_A B^{-1} Z_A^T`, a feature has :math:`S_i = z_i^T
    C^{-1} z_i` and :math:`Q_i = z_i^T C^{-1} t`; an active one has mean :math:`Q_i / \beta_i` and :math:`\gamma_i = S_i
    / \beta_i`. These are sums of squares: unlike their counterparts in the kernel of features, which are differences
    of large numbers, they keep their digits when the noise is small, as it becomes if features outnumber rows.

    Attributes
    ----------
    Z : ndarray of shape (n_rows, n_features)
    t : ndarray of shape (n_rows,)
    """

    Z: NDArray[np.float64]
    t: Vector

    @property
    def diagonal(self) -> Vector:
        """Squared length of every feature."""
        lengths: Vector = np.einsum("ij,ij->j", self.Z, self.Z)
        return lengths

    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        r"""Return weights and evidence for precisions of the active features.

        .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi + (n - r) \log \sigma^2 + \log \det C + t^T C^{-1} t \right]

        for vectors of length r. Time O(r² a + r³) for a active features.
        """
        columns = self.Z[:, active]
        covariance = (columns / beta) @ columns.T
        covariance[np.diag_indices_from(covariance)] += noise
        factor = cholesky(covariance, lower=True, check_finite=False)
        S, Q, whitened = _projections(factor, columns, self.t)
        solved = solve_triangular(factor, whitened, lower=True, trans=1, check_finite=False)
        rest = (self.n - len(self.t)) * np.log(noise)
        constant = self.n * np.log(2 * np.pi) + rest + 2 * np.log(np.diagonal(factor)).sum()
        return Posterior(
            active,
            Q / beta,
            np.clip(S / beta, np.finfo(np.float64).tiny, 1.0),
            float(-0.5 * (constant + whitened @ whitened)),
            factor,
            float(noise**2 * (solved @ solved)),
        )

    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        """Return S and Q of every feature, in time O(r² m) for m features."""
        S, Q, _ = _projections(state.factor, self.Z, self.t)
        return S, Q


def _projections(factor: NDArray[np.float64], columns: NDArray[np.float64], t: Vector) -> tuple[Vector, Vector, Vector]:
    """Return S and Q of the columns, and the response in the metric of the inverse covariance."""
    vectors = solve_triangular(factor, columns, lower=True, check_finite=False)
    whitened: Vector = solve_triangular(factor, t, lower=True, check_finite=False)
    return np.einsum("ij,ij->j", vectors, vectors), vectors.T @ whitened, whitened
