"""The solver of RFVM: algorithm, noise, and a response without variance."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_relevance import RFVM
from mfbench_relevance._evidence.solver import EvidenceSolver


def solver(**parameters):
    defaults = {"noise": "learned", "n_eff": None, "algorithm": "auto", "initial_beta": 10.0, "initial_noise": None}
    return EvidenceSolver(**{**defaults, "max_iter": 50, "tol": 1e-6, **parameters})


@pytest.mark.parametrize(
    ("kernel", "n_samples", "n_features", "expected"),
    [
        ("linear", 20, 500, "fixed-point"),
        ("linear", 20, 501, "both"),
        ("linear", 502, 501, "sequential"),
        ("polynomial", 20, 501, "sequential"),
    ],
)
def test_algorithm_follows_the_number_of_features(kernel, n_samples, n_features, expected):
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    fitted = RFVM("paper", kernel=kernel, repair="ignore", max_iter=1).fit(X, X[:, 0])
    assert fitted.settings_["algorithm"] == expected
    fitted.set_params(algorithm="sequential").fit(X, X[:, 0])
    assert fitted.settings_["algorithm"] == "sequential"


def test_both_is_the_better_of_two_maxima(row_problem):
    # Features with common factors: the search that starts without features ends far below the other.
    problem = row_problem(0, 40, 150, 0.3, "factors")
    evidence = {
        name: solver(algorithm=name, max_iter=2000)._maximise(problem, name).trace[-1]
        for name in ("fixed-point", "sequential", "both")
    }
    assert evidence["fixed-point"] > evidence["sequential"] + 1
    assert evidence["both"] >= evidence["fixed-point"]


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
