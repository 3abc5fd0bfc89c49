from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mfbench_margin._soft.nca import climb_simplex, project_on_simplex


def exact_projection(v):
    """The projection in rational arithmetic."""
    values = sorted((Fraction(value) for value in v), reverse=True)
    threshold, total = None, Fraction(0)
    for count, value in enumerate(values, start=1):
        total += value
        if value > (total - 1) / count:
            threshold = (total - 1) / count
    return [float(max(Fraction(value) - threshold, 0)) for value in v]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), p=st.integers(1, 8), spread=st.sampled_from([1e-3, 1.0, 1e3]))
def test_projection_is_the_nearest_point_of_the_simplex(seed, p, spread):
    rng = np.random.default_rng(seed)
    v = spread * rng.normal(size=p)
    projected = project_on_simplex(v)
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(1)
    corners = np.eye(p) - projected
    # The angle to every corner of the simplex is blunt.
    assert (corners @ (v - projected) <= 1e-9 * max(1, spread)).all()


@settings(max_examples=200, deadline=None)
@given(v=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
@example(v=[9.38884626e16, -3.13614650e16, -5.83895147e16, -4.13748296e15])
@example(v=[1.7e308, -1.7e308])
@example(v=[1e300])
@example(v=[-1e300, -1e300, -1e300])
@example(v=[1e17, 1e17, 0.5])
@example(v=[0.0, -0.0, 0.0])
@example(v=[5e-324, 0.0])
def test_projection_holds_for_any_finite_vector(v):
    projected = project_on_simplex(np.array(v))
    assert_allclose(projected, exact_projection(v), rtol=0, atol=1e-15 * len(v))
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(1, abs=1e-15 * len(v))


def test_projection_of_many_ties():
    assert_allclose(project_on_simplex(np.full(10**5, -3e200)), np.full(10**5, 1e-5), rtol=1e-9)


def test_ascent_from_a_gentle_to_a_steep_slope_stays_finite():
    """A step fit for the first slope overflows on the second."""

    def kinked(weights):
        if weights[0] < 0.5:
            return 1e-295 * weights[0], np.array([1e-295, 0.0, 0.0])
        return 1e20 * (weights[0] - 0.5), np.array([1e20, 0.0, 0.0])

    weights, trace, converged = climb_simplex(kinked, np.ones(3) / 3, 10, 0.0)
    assert weights.tolist() == [1, 0, 0]
    assert trace[-1] == 5e19
    assert converged


def test_ascent_finds_the_maximum_of_a_concave_function():
    target = np.array([0.7, 0.5, -0.2])
    weights, trace, converged = climb_simplex(
        lambda w: (-float(np.sum((w - target) ** 2)), -2 * (w - target)), np.ones(3) / 3, 100, 0.0
    )
    assert_allclose(weights, [0.6, 0.4, 0], rtol=0, atol=1e-9)
    assert (np.diff(trace) >= 0).all()
    assert converged
