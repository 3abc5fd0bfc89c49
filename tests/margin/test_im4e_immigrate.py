import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import mfbench_margin

SOLVERS = ["monotone", "published"]


def make(**parameters):
    return mfbench_margin.IM4EIMMIGRATE(**parameters)


def table(seed, n=30, p=20, n_classes=2):
    """Many columns, of which the last three are informative."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, -3:] += 1.5 * y[:, None] * [1, -1, 0.7]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y


def inner(fitted, kept):
    """W among the features kept, whether the estimator stores it alone or among all features."""
    return fitted.matrix_ if len(fitted.matrix_) == len(kept) else fitted.matrix_[np.ix_(kept, kept)]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cone", ["psd", "psd_clip", "nonneg", "diag"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_definition(immigrate_oracles, solver, cone, n_classes):
    X, y = table(1, n_classes=n_classes)
    kept, W = immigrate_oracles.fit_egt(X, y, 1.0, solver=solver, cone=cone, max_iter=5)
    assert 1 < len(kept) < X.shape[1]
    fitted = make(sigma=1.0, solver=solver, cone=cone, max_iter=5).fit(X, y)
    assert_allclose(inner(fitted, kept), W, rtol=0, atol=1e-9)
    expected = np.zeros(X.shape[1])
    expected[kept] = np.abs(W).sum(axis=1)
    assert_allclose(fitted.weights_, expected, rtol=0, atol=1e-9)
    assert_array_equal(fitted.feature_importances_, fitted.weights_)
    rows, _ = table(2)
    assert_array_equal(fitted.predict(rows), immigrate_oracles.predict(W, X[:, kept], y, 1.0, rows[:, kept]))


@pytest.mark.parametrize("threshold", [1.0, 1.5, 2.0])
def test_keeps_the_features_above_the_threshold(immigrate_oracles, threshold):
    X, y = table(3)
    w, _ = immigrate_oracles.fit_im4e(X, y, 1.0)
    kept = np.flatnonzero(w > threshold / len(w))
    fitted = make(sigma=1.0, threshold=threshold, cone="diag", solver="published").fit(X, y)
    assert set(np.flatnonzero(fitted.weights_)) <= set(kept)
    assert_array_equal(fitted.transform(X).shape, (len(X), np.count_nonzero(fitted.weights_)))


@pytest.mark.parametrize("solver", SOLVERS)
def test_is_immigrate_on_these_features_from_their_weights(immigrate_oracles, solver):
    X, y = table(4)
    w, _ = immigrate_oracles.fit_im4e(X, y, 0.5)
    kept = np.flatnonzero(w > 2 / len(w))
    start = np.diag(w[kept]) / np.linalg.norm(w[kept])
    plain = mfbench_margin.IMMIGRATE(sigma=0.5, solver=solver, cone="psd", init=start).fit(X[:, kept], y)
    fitted = make(sigma=0.5, solver=solver, cone="psd").fit(X, y)
    assert_allclose(inner(fitted, kept), plain.matrix_, rtol=0, atol=1e-9)


def test_keeps_the_two_heaviest_if_none_is_above(immigrate_oracles):
    X, y = table(5)
    w, _ = immigrate_oracles.fit_im4e(X, y, 1.0)
    heaviest = sorted(np.argsort(-w)[:2])
    with pytest.warns(UserWarning) as caught:
        fitted = make(sigma=1.0, threshold=19.5, cone="psd").fit(X, y)
    assert caught
    assert_array_equal(np.flatnonzero(fitted.weights_), heaviest)


def test_keeps_no_more_than_max_features(immigrate_oracles):
    X, y = table(6)
    w, _ = immigrate_oracles.fit_im4e(X, y, 1.0)
    fitted = make(sigma=1.0, threshold=0.5, max_features=4, cone="psd").fit(X, y)
    assert set(np.flatnonzero(fitted.weights_)) <= set(np.argsort(-w)[:4])


def test_discarded_features_do_not_matter_for_prediction():
    X, y = table(7)
    rows, _ = table(8)
    fitted = make(sigma=1.0).fit(X, y)
    discarded = fitted.weights_ == 0
    assert discarded.any()
    before = fitted.expected_distances(rows)
    rows[:, discarded] = 1e6
    assert_array_equal(fitted.expected_distances(rows), before)


@pytest.mark.parametrize("learner", ["IM4EIMMIGRATE", "BoostedIM4EIMMIGRATE"])
def test_constant_features_do_not_count(learner):
    """They would lower the mean weight, and so the threshold."""
    X, y = table(10)
    fitted, padded = (
        getattr(mfbench_margin, learner)(threshold=1.0).fit(np.hstack(columns), y)
        for columns in ([X], [X, np.ones((len(X), 200))])
    )
    assert 0 < len(fitted.kept_) < X.shape[1]
    assert_array_equal(padded.kept_, fitted.kept_)


def test_many_features():
    rng = np.random.default_rng(9)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 3000))
    X[:, :2] += 3 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = make(sigma=4.0, max_features=20, max_iter=5).fit(X, y)
    assert np.count_nonzero(fitted.weights_) <= 20
    assert set(np.argsort(-fitted.weights_)[:2]) == {0, 1}
    assert fitted.score(X, y) > 0.9


@pytest.mark.parametrize("solver", SOLVERS)
def test_invariances(solver):
    X, y = table(10)
    parameters = {"sigma": 1.0, "solver": solver, "cone": "psd", "max_iter": 5}
    fitted = make(**parameters).fit(X, y)
    order = np.random.default_rng(0).permutation(X.shape[1])
    assert_allclose(make(**parameters).fit(X[:, order], y).weights_, fitted.weights_[order], rtol=0, atol=1e-9)
    assert_allclose(make(**parameters).fit(X, 5 - y).weights_, fitted.weights_, rtol=0, atol=1e-9)
    assert_array_equal(make(**parameters).fit(X, y).weights_, fitted.weights_)


@in_turn("parameters", [{"sigma": 0}, {"threshold": -1.0}, {"max_features": 0}, {"cone": "all"}, {"solver": "newton"}])
def test_refuses_bad_parameters(parameters):
    X, y = table(11)
    with pytest.raises(ValueError):
        make(**parameters).fit(X, y)


# Boosted


def make_screened(**parameters):
    return mfbench_margin.BoostedIM4EIMMIGRATE(**{"n_estimators": 4, **parameters})


def wide(seed, n=40, p=15):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p))
    X[:, :3] += y[:, None] * [0.9, 0.7, 0.6]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y


@pytest.mark.parametrize("screen", ["once", "per-round"])
def test_screened(screen):
    X, y = wide(14)
    rows, _ = wide(15)
    fitted = make_screened(screen=screen, solver="published").fit(X, y)
    assert fitted.predict(rows).shape == (40,)
    assert fitted.feature_importances_.shape == (15,)
    assert (fitted.feature_importances_ == 0).any()
    assert fitted.score(X, y) > 0.6
    again = make_screened(screen=screen, solver="published").fit(X, y)
    assert_array_equal(again.estimator_weights_, fitted.estimator_weights_)


@pytest.mark.parametrize("screen", ["once", "per-round"])
def test_one_screened_round_predicts_as_its_learner(immigrate_oracles, screen):
    X, y = wide(16)
    rows, _ = wide(17)
    parameters = {"solver": "published", "cone": "psd", "max_iter": 5}
    boosted = make_screened(n_estimators=1, sigma_max=2.0, screen=screen, **parameters).fit(X, y)
    weights = np.full(len(y), 1 / len(y))
    kept, W = immigrate_oracles.fit_egt(X, y, 2.0, weights=weights, **parameters)
    assert_array_equal(boosted.predict(rows), immigrate_oracles.predict(W, X[:, kept], y, 2.0, rows[:, kept]))


def test_screened_refuses_bad_parameters():
    X, y = wide(18)
    for parameters in ({"screen": "never"}, {"threshold": -1.0}, {"max_features": 0}, {"n_estimators": 0}):
        with pytest.raises(ValueError):
            make_screened(**parameters).fit(X, y)


def test_with_another_pruning_it_equals_a_fit(make_groups):
    X, y = make_groups(1, n=60, p=6)
    start = make(threshold=0.5).fit(X, y)
    other = start.with_prune(0.3)
    fresh = make(threshold=0.5, prune=0.3).fit(X, y)
    assert (fresh.weights_ != start.weights_).any()
    assert_array_equal(other.matrix_, fresh.matrix_)
    assert_array_equal(other.weights_, fresh.weights_)
    assert_array_equal(other.decision_function(X), fresh.decision_function(X))
    assert start.prune is False


@pytest.mark.parametrize("name", ["IM4EIMMIGRATE", "BoostedIM4EIMMIGRATE"])
def test_precision_and_threads_are_those_of_the_second_stage(name, monkeypatch):
    X, y = table(0, n=1000, p=6)
    fits = []
    fit_pairs = mfbench_margin.IMMIGRATE.fit_pairs

    def noted(self, *args, **options):
        point = fit_pairs(self, *args, **options)
        fits.append((self.precision, self.n_jobs, self.single_))
        return point

    monkeypatch.setattr(mfbench_margin.IMMIGRATE, "fit_pairs", noted)
    rounds = {"n_estimators": 2} if name.startswith("Boosted") else {}
    plain = getattr(mfbench_margin, name)(precision="double", **rounds).fit(X, y)
    fast = getattr(mfbench_margin, name)(n_jobs=2, **rounds).fit(X, y)
    n = len(fits) // 2
    assert fits == [("double", None, False)] * n + [("auto", 2, True)] * n
    assert_allclose(fast.weights_, plain.weights_, rtol=0, atol=1e-3)
