"""Gaussian knockoffs: how far they may differ from the features, and a draw of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve

Floats = NDArray[np.float64]
CONSTRUCTIONS = ("minimum-correlation", "equicorrelated")
_TOLERANCE = 1e-4
_MOST_STEPS = 50


def differences(correlation: Floats, construction: str) -> Floats:
    r"""Return the diagonal *s* of the difference between the covariance of features, and of features with knockoffs.

    "equicorrelated" has :math:`s_j = \min(1, 2 \lambda_{\min}(\Sigma))`; "minimum-correlation" maximises
    :math:`\sum_j s_j` subject to :math:`0 \le s_j \le 1` and :math:`2 \Sigma - \mathrm{diag}(s) \succeq 0`.
    """
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    s: Floats = np.full(len(correlation), min(1.0, 2.0 * max(smallest, 1e-12)) * (1.0 - 1e-6))
    return s if construction == "equicorrelated" else _largest_sum(correlation, s / 2.0)


def _largest_sum(correlation: Floats, s: Floats) -> Floats:
    """Solve the semidefinite program by Newton's method on a logarithmic barrier; `s` is strictly feasible."""
    barrier = 1.0
    while barrier > _TOLERANCE:  # the sum is at most three barriers a feature below the largest
        barrier *= 0.2
        value = _objective(correlation, s, barrier)
        for _ in range(_MOST_STEPS):
            inverse = np.linalg.inv(2.0 * correlation - np.diag(s))
            slope = 1.0 / barrier - np.diag(inverse) + 1.0 / s - 1.0 / (1.0 - s)
            curvature = inverse**2 + np.diag(1.0 / s**2 + 1.0 / (1.0 - s) ** 2)
            unit = np.minimum(s, 1.0 - s)  # near a bound the curvature is large: its inverse square is the scale
            step = unit * solve(curvature * np.outer(unit, unit), slope * unit, assume_a="sym")
            size, gain = 1.0, float(slope @ step)
            while (new := _objective(correlation, s + size * step, barrier)) < value + 0.1 * size * gain:
                size /= 2.0
                if size < 1e-10:  # rounding decides
                    break
            if size < 1e-10 or gain < 1e-3:
                break
            s, value = s + size * step, new
    return s


def _objective(correlation: Floats, s: Floats, barrier: float) -> float:
    if s.min() <= 0 or s.max() >= 1:
        return -np.inf
    try:
        root = np.linalg.cholesky(2.0 * correlation - np.diag(s))
    except np.linalg.LinAlgError:
        return -np.inf
    return float(s.sum() / barrier + 2.0 * np.log(np.diag(root)).sum() + np.log(s).sum() + np.log1p(-s).sum())


def draw(Z: Floats, correlation: Floats, s: Floats, rng: np.random.RandomState) -> Floats:
    """Draw knockoffs of standardised features, whose correlation it is."""
    factor = cho_factor(correlation)
    share = cho_solve(factor, np.diag(s))
    mean = Z - Z @ share
    covariance = 2.0 * np.diag(s) - s[:, None] * share
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    knockoffs: Floats = mean + rng.standard_normal(Z.shape) @ root.T
    return knockoffs
