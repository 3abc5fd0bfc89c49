import math
import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import mfbench_margin

STEP_1 = {"solver": "published", "cone": "psd", "init": "identity"}


def make(**parameters):
    return mfbench_margin.BoostedIMMIGRATE(**{"n_estimators": 5, **parameters})


def easy(n=20, n_classes=2):
    """Classes far apart: every learner is perfect."""
    y = np.arange(n) % n_classes
    return np.column_stack([10.0 * y, np.zeros(n)]) + np.random.default_rng(0).normal(size=(n, 2)), y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("boost_update", ["published", "adaboost"])
@pytest.mark.parametrize("schedule", ["published", "inclusive"])
@pytest.mark.parametrize("solver", ["published", "monotone"])
def test_equals_definition(immigrate_oracles, make_groups, n_classes, boost_update, schedule, solver):
    # Tables where learners are discarded and kept.
    X, y = make_groups(11, shift=1.0) if n_classes == 2 else make_groups(1, n_classes=3, shift=0.5)
    parameters = {
        "n_estimators": 4, "sigma_max": 1.0, "sigma_min": 0.05, "boost_update": boost_update, "solver": solver,
        "cone": "psd", "max_iter": 2,
    }  # fmt: skip
    kept, weights = immigrate_oracles.fit_boosted(X, y, inclusive=schedule == "inclusive", **parameters)
    assert len(kept["alphas"]) >= (2 if solver == "published" else 1)
    fitted = make(schedule=schedule, init="identity", perfect="discard", **parameters).fit(X, y)
    assert_allclose(fitted.estimator_errors_, kept["errors"], rtol=0, atol=1e-9)
    assert_allclose(fitted.estimator_weights_, kept["alphas"], rtol=0, atol=1e-9)
    assert_allclose(fitted.estimators_matrices_, kept["matrices"], rtol=0, atol=1e-9)
    assert_allclose(fitted.sigmas_, kept["sigmas"], rtol=1e-12)
    assert_allclose(fitted.sample_weight_, weights, rtol=0, atol=1e-9)
    rows, _ = make_groups(2, n=30)
    classes, _ = immigrate_oracles.vote(kept, X, y, rows)
    assert_array_equal(fitted.predict(rows), classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_round_predicts_as_immigrate(make_groups, n_classes):
    X, y = make_groups(3, n=30, n_classes=n_classes)
    rows, _ = make_groups(4, n=60)
    boosted = make(n_estimators=1, sigma_max=2.0, max_iter=5, **STEP_1).fit(X, y)
    plain = mfbench_margin.IMMIGRATE(sigma=2.0, max_iter=5, **STEP_1)
    plain.fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert_allclose(boosted.estimators_matrices_[0], plain.matrix_, rtol=0, atol=1e-12)
    assert_array_equal(boosted.predict(rows), plain.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_learner_just_used(make_groups, n_classes):
    X, y = make_groups(5, n=30, n_classes=n_classes)
    start = 1 / len(y)
    for boost_update in ("published", "adaboost"):
        fitted = make(n_estimators=1, boost_update=boost_update, **STEP_1).fit(X, y)
        error = fitted.estimator_errors_[0]
        weights = fitted.sample_weight_
        assert weights.sum() == pytest.approx(1)
        assert 0 < error < 1 - 1 / n_classes
        assert len(np.unique(np.round(weights, 12))) == 2
        after = weights[weights > start].sum()
        if boost_update == "adaboost":
            assert after == pytest.approx(1 - 1 / n_classes)
        else:
            share = math.sqrt(error * (n_classes - 1))
            assert after == pytest.approx(share / (share + math.sqrt(1 - error)))


def test_error_leaves_each_sample_out():
    # The labels are noise: with itself among its neighbours, each sample would be predicted correctly.
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)
    fitted = make(n_estimators=8, sigma_max=0.01, sigma_min=0.001, perfect="keep", **STEP_1).fit(X, y)
    assert min(fitted.estimator_errors_) > 0.2


@pytest.mark.parametrize("schedule", ["published", "inclusive"])
def test_sigma_falls_by_a_constant_factor(make_groups, schedule):
    X, y = make_groups(7, n=40, shift=0.5)
    fitted = make(n_estimators=4, sigma_max=4.0, sigma_min=0.25, schedule=schedule, **STEP_1).fit(X, y)
    factor = (0.25 / 4) ** (1 / (4 if schedule == "published" else 3))
    possible = 4.0 * factor ** np.arange(4)
    assert len(fitted.sigmas_) == len(fitted.estimator_weights_) == len(fitted.estimators_matrices_)
    assert all(np.isclose(possible, sigma, rtol=1e-12).any() for sigma in fitted.sigmas_)
    assert (np.diff(fitted.sigmas_) < 0).all()


def test_scale_of_the_votes_does_not_matter(make_groups):
    X, y = make_groups(8, n=30, n_classes=3, shift=0.5)
    rows, _ = make_groups(9, n=60)
    fitted = make(**STEP_1).fit(X, y)
    before = fitted.predict(rows)
    fitted.estimator_weights_ = 7.0 * np.asarray(fitted.estimator_weights_)
    assert_array_equal(fitted.predict(rows), before)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_perfect_learners(n_classes):
    X, y = easy(21, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        discarded = make(perfect="discard", **STEP_1).fit(X, y)
    assert discarded.degenerate_
    assert_array_equal(discarded.predict(X), y)
    kept = make(perfect="keep", **STEP_1).fit(X, y)
    assert not kept.degenerate_
    assert_allclose(kept.estimator_errors_, [1 / 42])
    assert_allclose(kept.estimator_weights_, [0.5 * (math.log(41) + math.log(n_classes - 1))])
    assert_array_equal(kept.predict(X), y)


def test_weights_are_finite_and_rank_the_features(make_groups):
    X, y = make_groups(10, n=40)
    fitted = make(**STEP_1).fit(X, y)
    assert fitted.feature_importances_.shape == (4,)
    assert np.isfinite(fitted.feature_importances_).all()
    assert (fitted.feature_importances_ >= 0).all()
    assert fitted.feature_importances_.any()


@pytest.mark.parametrize("init", ["identity", "random"])
def test_same_seed_same_bits(make_groups, init):
    X, y = make_groups(11, n=30, shift=0.5)
    first, second = (make(**{**STEP_1, "init": init}, random_state=3).fit(X, y) for _ in range(2))
    assert_array_equal(first.estimators_matrices_, second.estimators_matrices_)
    assert_array_equal(first.estimator_weights_, second.estimator_weights_)
    assert_array_equal(first.predict(X), second.predict(X))


def test_label_names_do_not_matter(make_groups):
    X, y = make_groups(12, n=30, n_classes=3, shift=0.5)
    names = np.array(["zebra", "ape", "bee"])
    plain, renamed = make(**STEP_1).fit(X, y), make(**STEP_1).fit(X, names[y])
    assert_allclose(renamed.estimator_weights_, plain.estimator_weights_, rtol=0, atol=1e-9)
    assert set(renamed.predict(X)) <= set(names)


@in_turn("parameters",
    [
        {"n_estimators": 0}, {"sigma_max": 0}, {"sigma_min": -1.0}, {"sigma_min": 5.0, "sigma_max": 4.0},
        {"schedule": "up"}, {"boost_update": "logit"}, {"perfect": "stop"}, {"max_iter": 0}, {"cone": "all"},
        {"solver": "newton"},
    ])  # fmt: skip
def test_refuses_bad_parameters(make_groups, parameters):
    X, y = make_groups(13)
    with pytest.raises(ValueError):
        make(**parameters).fit(X, y)


def test_says_how_few_learners_remain():
    X, y = easy()
    with pytest.warns(RuntimeWarning, match="keeps 0 of 10 learners.*smallest error: 10 misclassified no training row"):
        make(n_estimators=10, perfect="discard", **STEP_1).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(n_estimators=10, perfect="keep", **STEP_1).fit(X, y)
    assert not [w for w in caught if "learners" in str(w.message)]


def test_sums_up_the_learners_that_did_not_converge(make_groups):
    X, y = make_groups(11, shift=1.0)
    # Ten steps, the default of the published solver, are too few for its change of 1e-4.
    texts = convergence_warnings(make(n_estimators=10, solver="published", max_iter=None), X, y)
    assert len(texts) == 1
    assert "of 10 rounds IMMIGRATE stopped after its default number of steps" in texts[0]


def test_learners_that_are_stopped_on_purpose_need_no_warning(make_groups):
    X, y = make_groups(11, shift=1.0)
    boosted = make(n_estimators=10, max_iter=1)
    assert not convergence_warnings(boosted, X, y)
    assert not boosted.estimators_[0].converged_


def convergence_warnings(boosted, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        boosted.fit(X, y)
    return [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
