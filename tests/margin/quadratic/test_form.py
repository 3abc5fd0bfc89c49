import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin._quadratic.layout import lay_out


def quadratic(form, d):
    """The quadratic form of a padded vector."""
    if form.triangular:
        return d @ form.matrix @ d
    return ((form.matrix @ d) ** 2).sum()


@pytest.mark.parametrize("rank", [None, 1, 2, 6])
def test_has_the_quadratic_form_of_W(rank):
    rng = np.random.default_rng(0)
    components = rng.normal(size=(rank or 6, 6))
    W = components.T @ components
    form = lay_out(W, 8, None if rank is None else components)
    assert form.triangular == (rank in (None, 6))
    assert form.matrix.shape[1] == 8
    d = rng.random(6)
    assert quadratic(form, np.append(d, [0, 0])) == pytest.approx(d @ W @ d, rel=1e-12)
    if rank is not None:
        assert_allclose((form.factor.T @ form.factor)[:6, :6], W, rtol=1e-12)
