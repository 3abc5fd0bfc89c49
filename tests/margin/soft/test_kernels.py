import numpy as np
from numpy.testing import assert_allclose

from mfbench_margin._soft.kernels import _decay


def test_exponential():
    t = np.concatenate([np.linspace(0, 44.999, 10_000), [0, 1e-300, 45, 46, 1e300, np.inf]])
    values = np.array([_decay(v) for v in t])
    assert_allclose(values, np.exp(-t), rtol=1e-13, atol=1e-19)
    assert values[10_000] == 1
