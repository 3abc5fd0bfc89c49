"""The posterior of the weights."""

import numpy as np
import pytest

from mfbench_relevance._evidence.posterior import Problem, posterior


def test_too_indefinite_for_a_posterior():
    problem = Problem(np.array([[1.0, 3.0], [3.0, 1.0]]), np.ones(2), 2.0, 50.0, 0.01, True)
    with pytest.raises(ValueError, match="set repair='clip'"):
        posterior(problem, np.arange(2), np.ones(2), 0.01)
