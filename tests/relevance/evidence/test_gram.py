"""The posterior of the weights."""

import numpy as np
import pytest

from mfbench_relevance._evidence.posterior import GramProblem


def test_too_indefinite_for_a_posterior():
    problem = GramProblem(np.ones(2), 2.0, 50.0, 0.01, True, np.array([[1.0, 3.0], [3.0, 1.0]]))
    with pytest.raises(ValueError, match="set repair='clip'"):
        problem.posterior(np.arange(2), np.ones(2), 0.01)
