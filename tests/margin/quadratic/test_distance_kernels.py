import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin._quadratic.distance_kernels import differences, exponentials, load, quadratic_form


def test_exponentials():
    x = np.concatenate([np.linspace(-708, 0, 10_001), [1e-12, -1e-300]])
    values = np.empty_like(x)
    exponentials(x, values)
    assert_allclose(values, np.exp(x), rtol=4e-15)
    lowest = np.empty(2)
    exponentials(np.array([-1e300, -709.0]), lowest)
    assert_allclose(lowest, np.exp(-708), rtol=1e-13)


@pytest.mark.parametrize("triangular", [True, False])
@pytest.mark.parametrize("m", [1, 7, 256])
def test_quadratic_form_of_differences(triangular, m):
    rng = np.random.default_rng(m)
    columns, x = rng.normal(size=(8, m + 3)), rng.normal(size=8)
    form = rng.normal(size=(8, 8) if triangular else (3, 8))
    form = np.tril(form) if triangular else form
    D, q = np.zeros((8, 256)), np.empty(256)
    differences(D, columns, x, 2, 2 + m)
    d = np.abs(columns[:, 2 : 2 + m] - x[:, None])
    assert_array_equal(D[:, :m], d)
    quadratic_form(q, D, form, triangular, np.empty((4, 256)), m)
    expected = np.einsum("ak,ab,bk->k", d, form, d) if triangular else ((form @ d) ** 2).sum(axis=0)
    assert_allclose(q[:m], expected, rtol=1e-10, atol=1e-12)


def test_load_interpolates_stored_distances():
    n = 6
    first, second = np.random.default_rng(0).random((2, n * (n - 1) // 2))
    full = np.zeros((n, n))
    full[np.triu_indices(n, 1)] = first
    assert_array_equal(load(np.empty(n), first, second, 0.0, 2, 3, 6, n), full[2, 3:])
    full[np.triu_indices(n, 1)] = first + 0.25 * (second - first)
    assert_array_equal(load(np.empty(n), first, second, 0.25, 1, 2, 6, n), full[1, 2:])
