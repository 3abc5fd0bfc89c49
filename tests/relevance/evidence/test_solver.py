"""The solver of RFVM: algorithm, noise, and a response without variance."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_relevance import RFVM
from mfbench_relevance._evidence.solver import EvidenceSolver


def solver(**parameters):
    defaults = {"noise": "learned", "n_eff": None, "algorithm": "auto", "initial_beta": 10.0, "initial_noise": None}
    return EvidenceSolver(**{**defaults, "max_iter": 50, "tol": 1e-6, **parameters})


@pytest.mark.parametrize(("n_features", "expected"), [(500, "fixed-point"), (501, "sequential")])
def test_algorithm_follows_the_number_of_features(n_features, expected):
    assert solver().settings(n_features) == {"noise": "learned", "algorithm": expected}
    assert solver(algorithm="sequential").settings(5)["algorithm"] == "sequential"


@pytest.mark.parametrize(("noise", "expected"), [("learned", False), ("calibrated", True), (0.5, False)])
def test_null_is_needed_only_for_calibrated_noise(noise, expected):
    assert solver(noise=noise).uses_null is expected


def test_fixed_noise_is_used_as_it_is(make_regression):
    fitted = RFVM(noise=0.25, random_state=0).fit(*make_regression(0))
    assert fitted.noise_variance_ == 0.25
    assert fitted.settings_["noise"] == 0.25


@pytest.mark.filterwarnings("ignore:the response is constant")
def test_constant_response_has_no_weights(make_regression):
    X, _ = make_regression(0)
    fitted = RFVM("paper").fit(X, np.full(len(X), 3.0))
    assert_array_equal(fitted.weights_, 0)
    assert np.isinf(fitted.precisions_).all()
    assert fitted.converged_
