"""Boruta: decisions against SciPy's binomial test, and planted features."""

import warnings

import numpy as np
import pytest
from in_turn import in_turn
from scipy.stats import binomtest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from mfbench_baselines.boruta import Boruta, decide


def test_decisions_match_the_exact_binomial_test():
    rounds, alpha = 20, 0.05
    hits = np.arange(21)
    decision = decide(hits, np.zeros(21, dtype=int), rounds, alpha)
    for hit, verdict in zip(hits, decision, strict=True):
        above = binomtest(int(hit), rounds, alternative="greater").pvalue < alpha / 21
        below = binomtest(int(hit), rounds, alternative="less").pvalue < alpha / 21
        assert verdict == int(above) - int(below)
    assert {-1, 0, 1} == set(decision)
    earlier = np.where(hits == 10, -1, 0)
    assert decide(hits, earlier, rounds, alpha)[10] == -1, "earlier decisions stand"


def test_selects_planted_features_and_a_near_copy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    X[:, 5] = X[:, 3] + 0.1 * rng.normal(size=120)
    X[:, 11] = 4.0
    y = X[:, 3] + X[:, 8] > 0
    model = Boruta(n_estimators=20, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 5, 8]
    assert (model.status_[[3, 5, 8]] == "confirmed").all() and model.hits_[11] == 0
    assert (model.feature_importances_ <= 1).all() and (model.feature_importances_ >= -1).all()
    again = Boruta(n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.feature_importances_, again.feature_importances_)


def test_undecided_features_are_tentative_and_selected_on_request_only():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 10))
    y = 2 * X[:, 0] + 0.8 * X[:, 1] + 0.6 * X[:, 2] + rng.normal(size=80) > 0
    selected = {}
    for treatment in ("exclude", "median", "include"):
        with pytest.warns(
            ConvergenceWarning, match="Boruta: . of 10 features are tentative after 12 .*raise max_iter"
        ) as caught:
            model = Boruta(tentative=treatment, n_estimators=20, max_iter=12, random_state=0).fit(X, y)
        assert len(caught) == 1 and not model.converged_
        selected[treatment] = set(model.get_support(indices=True))
        assert selected[treatment] == set(np.flatnonzero(model.feature_importances_ > 0))
    confirmed, tentative = (set(np.flatnonzero(model.status_ == name)) for name in ("confirmed", "tentative"))
    assert set(model.status_) == {"confirmed", "tentative", "rejected"}
    assert selected["exclude"] == confirmed
    assert confirmed < selected["median"] < selected["include"]
    assert selected["include"] == confirmed | tentative


def test_converges_without_a_warning_once_every_feature_is_decided():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Boruta(n_estimators=20, random_state=0).fit(X, X[:, 2] > 0)
    assert model.converged_ and set(model.status_) == {"confirmed", "rejected"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_selects_next_to_nothing_in_noise():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 20)), rng.integers(0, 2, 80)
    assert Boruta(n_estimators=20, max_iter=30, random_state=0).fit(X, y).get_support().sum() <= 2


@in_turn(
    "name, value",
    [
        ("max_iter", 0),
        ("max_iter", "many"),
        ("alpha", 0.0),
        ("alpha", None),
        ("n_estimators", 0),
        ("n_estimators", 10.0),
        ("max_depth", 0),
        ("max_depth", 2.7),
        ("tentative", "keep"),
        ("n_features_to_select", 1.5),
        ("random_state", "seed"),
    ],
)
def test_invalid_parameters_raise(name, value):
    with pytest.raises(
        InvalidParameterError, match=f"The '{name}' parameter of Boruta must be .* Got {value!r} instead"
    ):
        Boruta(**{name: value}).fit([[0.0], [1.0]], [0, 1])
