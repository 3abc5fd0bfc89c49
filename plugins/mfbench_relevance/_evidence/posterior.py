"""The nouns of evidence maximisation: a problem, the posterior of its weights for given precisions, a solution.

The model in the space of the kernel is phi(y) = sum_i w_i phi(f_i) + noise of variance s², w_i of variance 1 / beta_i.
Two forms of the same algebra compute it: from the kernel of features (`gram`) and, where the kernel is an inner product
of fewer rows than features, from the rows (`rows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
NOISE_FLOOR = 1e-10


@dataclass
class Posterior:
    """The posterior of the active features' weights, given the hyperparameters.

    Attributes
    ----------
    active : ndarray of int
        Features that have not been removed.
    mean : ndarray of shape (n_active,)
        Mean of their weights.
    gamma : ndarray of shape (n_active,)
        How far the data determine each weight, from 0 to 1: 1 minus its precision times its variance.
    evidence : float
        Logarithm of the marginal likelihood.
    factor : ndarray
        Lower Cholesky factor of the matrix that the form of the problem factorises.
    residual : float
        Squared distance of the response from the mean prediction, in kernel space.
    """

    active: NDArray[np.intp]
    mean: Vector
    gamma: Vector
    evidence: float
    factor: NDArray[np.float64]
    residual: float


@dataclass
class Solution:
    """The result of evidence maximisation.

    Attributes
    ----------
    mean, beta : ndarray of shape (n_features,)
        Mean weight and precision of every feature; 0 and infinity if it was removed.
    noise : float
        Noise variance.
    trace : list of float
        Log evidence at every iteration, including the last state.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the last state is stationary.
    floored : bool
        Whether the noise variance is at its floor.
    change : float
        Largest change of the logarithm of a precision or of the noise variance in the last iteration.
    gain : float
        How much another feature would still raise the evidence; 0 if none would, or if none was tried.
    """

    mean: Vector
    beta: Vector
    noise: float
    trace: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    floored: bool = False
    change: float = 0.0
    gain: float = 0.0

    @property
    def fall(self) -> float:
        """Largest decrease of the evidence in one iteration; 0 if it never decreased."""
        return float(max(0.0, -np.diff(self.trace).min(initial=0.0)))


@dataclass(frozen=True)
class Problem(ABC):
    """One response and its noise.

    Attributes
    ----------
    k : ndarray of shape (n_features,)
        Kernel of features and response.
    kyy : float
        Kernel of the response with itself.
    n : float
        Number of observations in the likelihood.
    noise : float
        Noise variance: the initial one if it is learned, else the one to use.
    learn_noise : bool
        Whether the noise variance is learned.
    """

    k: Vector
    kyy: float
    n: float
    noise: float
    learn_noise: bool

    @property
    def floor(self) -> float:
        """Smallest noise variance."""
        return NOISE_FLOOR * self.kyy

    @property
    @abstractmethod
    def diagonal(self) -> Vector:
        """Kernel of every feature with itself."""

    @abstractmethod
    def posterior(self, active: NDArray[np.intp], beta: Vector, noise: float) -> Posterior:
        """Return weights and evidence for precisions of the active features."""

    @abstractmethod
    def pull(self, state: Posterior, noise: float) -> tuple[Vector, Vector]:
        r"""Return S and Q of every feature: :math:`\phi_i^T C^{-1} \phi_i` and :math:`\phi_i^T C^{-1} \phi(y)`.

        C is the covariance of the response, noise and active features together.
        """
