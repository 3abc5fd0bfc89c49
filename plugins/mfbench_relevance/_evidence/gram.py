"""The posterior from the kernel of features: O(a³) for a active features, whatever the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from mfbench_relevance._evidence.posterior import Posterior, Problem, Vector


@dataclass(frozen=True)
class GramProblem(Problem):
    """A response and the kernel of all pairs of features.

    With A = K / s² + diag(beta) over the active features, the weights have mean A^-1 k / s² and covariance A^-1.

    Attributes
    ----------
    K : ndarray of shape (n_features, n_features)
    """

    K: NDArray[np.float64]

    @property
    def diagonal(self) -> Vector:
        """Kernel of every feature with itself."""
        return np.diagonal(self.K)

    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        r"""Return weights and evidence for precisions of the active features.

        .. math:: \log p = -\tfrac12 \left[ n \log 2 \pi \sigma^2 + \log \det A - \sum_i \log \beta_i
            + (k_{yy} - k^T \mu) / \sigma^2 \right]

        Raises
        ------
        ValueError
            If A is not positive definite, which happens only with an indefinite kernel.
        """
        likelihood = self.n * np.log(2 * np.pi * noise)
        if len(active) == 0:
            empty = np.empty(0)
            evidence = -0.5 * (likelihood + self.kyy / noise)
            return Posterior(active, empty, empty, evidence, np.empty((0, 0)), self.kyy)
        k = self.k[active]
        K = self.K[np.ix_(active, active)]
        precision = K / noise
        precision[np.diag_indices_from(precision)] += beta
        try:
            factor = cholesky(precision, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                "the feature kernel is too far from positive semi-definite for evidence maximisation; set repair='clip'"
            ) from None
        inverse = solve_triangular(factor, np.eye(len(active)), lower=True, check_finite=False)
        mean = inverse.T @ (inverse @ (k / noise))
        variance = (inverse**2).sum(axis=0)
        constant = likelihood + 2 * np.log(np.diagonal(factor)).sum() - np.log(beta).sum()
        return Posterior(
            active,
            mean,
            np.clip(1 - beta * variance, np.finfo(np.float64).eps, 1.0),
            float(-0.5 * (constant + (self.kyy - k @ mean) / noise)),
            factor,
            float(self.kyy - 2 * mean @ k + mean @ K @ mean),
        )

    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        r"""Return S and Q of every feature.

        With the active features A, :math:`S = \operatorname{diag}(K)/\sigma^2 - \operatorname{diag}(K_A \Sigma K_A^T) /
        \sigma^4` and :math:`Q = (k - K_A \mu)/\sigma^2`. Time O(m a²) for a active of m features.
        """
        columns = self.K[:, state.active]
        spread = np.zeros(len(self.k))
        if len(state.active):
            spread = (solve_triangular(state.factor, columns.T, lower=True, check_finite=False) ** 2).sum(axis=0)
        S = np.maximum(self.diagonal / noise - spread / noise**2, 0.0)
        return S, (self.k - columns @ state.mean) / noise
