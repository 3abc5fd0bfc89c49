"""Newton's method on few terms against proximal gradient steps on the same terms."""

import numpy as np
import pytest

from mfbench_baselines._hiernet_terms import descend, newton_descent, predict, proximal_point, total_loss

PENALTY = 4.0
ENDS = np.array([0, 2, 3, 3])
IS_SQUARE = np.array([False, True, False])


def terms(family):
    """Return a design of three main effects and three pairs, the first a square, and a response."""
    rng = np.random.default_rng(0)
    mains = rng.normal(size=(3, 120))
    pairs = np.array([mains[0] * mains[1], mains[0] ** 2 - 1.0, mains[1] * mains[2]])
    y = mains[0] + pairs[0] - pairs[1] + rng.normal(size=120)
    return np.vstack([mains, pairs]), (y > 0).astype(float) if family == "logistic" else y


def objective(design, y, is_logistic, point, intercept):
    eta, residual = np.empty(len(y)), np.empty(len(y))
    predict(design, point, intercept, 3, np.empty(6), eta)
    loss = total_loss(eta, y, is_logistic, residual)
    # The penalty is that of the proximal point of no step: the point itself.
    return loss + proximal_point(point, np.zeros(9), 0.0, PENALTY, ENDS, IS_SQUARE, np.empty(9))


@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_both_reach_the_same_minimum(family):
    design, y = terms(family)
    shared = ENDS, IS_SQUARE, PENALTY
    ours, theirs = np.zeros(9), np.zeros(9)
    intercept, steps, converged = newton_descent(design, y, family == "logistic", *shared, ours, 0.0, 1e-3, 1e-8, 5000)
    other, _, _ = descend(design, y, family == "logistic", *shared, theirs, 0.0, 1.0, 1e-9, 50_000)
    assert converged and steps < 5000
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert intercept == pytest.approx(other, abs=1e-6)
    assert (ours[6:] != 0).any()
    assert np.abs(ours[6:8]).sum() <= ours[0] + ours[3] + 1e-9, "the hierarchy"
    value = objective(design, y, family == "logistic", ours, intercept)
    assert value <= objective(design, y, family == "logistic", theirs, other) * (1 + 1e-12)


def test_the_limit_on_steps_holds():
    design, y = terms("logistic")
    point = np.zeros(9)
    _, steps, converged = newton_descent(design, y, True, ENDS, IS_SQUARE, PENALTY, point, 0.0, 1e-3, 1e-8, 4)
    assert steps == 4 and not converged
    assert point.any()


def test_separated_classes_do_not_stall():
    design, _ = terms("logistic")
    y = (design[0] > 0).astype(float)
    point = np.zeros(9)
    shared = ENDS, IS_SQUARE, 1e-3
    _, _, converged = newton_descent(1e2 * design, y, True, *shared, point, 0.0, 1e-6, 1e-4, 50_000)
    assert converged
    assert point[0] > point[3]
