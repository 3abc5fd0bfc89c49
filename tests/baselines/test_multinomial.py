"""Multinomial regression against numerical derivatives and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from mfbench_baselines._multinomial import log_probabilities, maximise, newton_step


def test_newton_steps_maximise_the_likelihood():
    rng = np.random.default_rng(0)
    D = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    members = np.eye(3)[rng.integers(0, 3, 60)]
    at = rng.normal(size=(3, 2)) * 0.3
    value = lambda flat: -(members * log_probabilities(D, flat.reshape(3, 2))).sum()  # noqa: E731
    step, statistic = newton_step(D, members, at)
    gradient = approx_fprime(at.ravel(), value, 1e-7)
    assert statistic == pytest.approx(-gradient @ step.ravel(), rel=1e-4)
    best = minimize(value, at.ravel(), tol=1e-10)
    fit = maximise(D, members, np.zeros((3, 2)))
    assert fit.converged and fit.deviance == pytest.approx(2 * best.fun, rel=1e-8)
    np.testing.assert_allclose(fit.coefficients.ravel(), best.x, atol=1e-4)
    huge = log_probabilities(1e4 * D, at)
    assert np.isfinite(huge).all()
