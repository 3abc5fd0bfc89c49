"""Multinomial regression against a general optimiser, and fits without a column against fits from the start."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mfbench_baselines._multinomial import Removals, log_probabilities, maximise


def regression(n=200, n_classes=3, width=6):
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(n), rng.normal(size=(n, width - 1))])
    scores = design @ rng.normal(size=(width, n_classes)) + rng.gumbel(size=(n, n_classes))
    return design, scores.argmax(axis=1)


def test_the_maximum_is_that_of_a_general_optimiser():
    D, codes = regression(n=60, width=3)
    members = np.eye(3)[codes]
    value = lambda flat: -(members * log_probabilities(D, flat.reshape(3, 2))).sum()  # noqa: E731
    best = minimize(value, np.zeros(6), tol=1e-10)
    fit = maximise(D, codes, np.zeros((3, 2)))
    assert fit.converged and fit.deviance == pytest.approx(2 * best.fun, rel=1e-8)
    np.testing.assert_allclose(fit.coefficients.ravel(), best.x, atol=1e-3)
    assert np.isfinite(log_probabilities(1e4 * D, fit.coefficients)).all()
    assert not maximise(D, codes, np.zeros((3, 2)), max_iter=1).converged


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fits_without_a_column(n_classes):
    D, codes = regression(n_classes=n_classes)
    full = maximise(D, codes, np.zeros((6, n_classes - 1)))
    removals = Removals(D, codes, full)
    for column in range(6):
        expected = maximise(np.delete(D, column, axis=1), codes, np.zeros((5, n_classes - 1)), tol=1e-11)
        fit = removals.without(column)
        assert fit.converged and fit.deviance == pytest.approx(expected.deviance, abs=1e-7)
        np.testing.assert_allclose(fit.coefficients, expected.coefficients, atol=1e-4)
        rise = expected.deviance - full.deviance
        assert removals.rises[column] == pytest.approx(rise, rel=0.5)
        assert removals.without(column, limit=expected.deviance + 1e-4).deviance < np.inf
        assert removals.without(column, limit=expected.deviance - 0.1 * rise).deviance in (np.inf, fit.deviance)
        assert full.deviance - 1e-5 < removals.lowest[column] < expected.deviance


def test_coefficients_of_separated_classes_do_not_depend_on_the_removal():
    D, _ = regression()
    codes = (D[:, 1] + D[:, 2] > 0).astype(int)
    full = maximise(D, codes, np.zeros((6, 1)))
    assert full.deviance < 1e-2
    fit = Removals(D, codes, full).without(3)
    expected = maximise(np.delete(D, 3, axis=1), codes, np.delete(full.coefficients, 3, axis=0))
    np.testing.assert_array_equal(fit.coefficients, expected.coefficients)
