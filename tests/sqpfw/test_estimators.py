import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_sqpfw import SQPFeatureWeighting, SQPFeatureWeightingCV, SQPFeatureWeightingPath


@parametrize_with_checks(
    [
        SQPFeatureWeighting(),
        SQPFeatureWeighting(2, 1, theta=0.02, working_set=5, n_neighbors=3),
        SQPFeatureWeightingPath(theta_max=0.05),
        SQPFeatureWeightingCV(theta_max=0.05, n_thetas=4, cv=2, neighbourhoods=((1, 1),)),
    ]
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def noisy():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 8))
    X[:, 2] += 2.5 * y
    return X, y


def test_noise_loses_weight(noisy):
    X, y = noisy
    relevant = [SQPFeatureWeighting(theta=theta).fit(X, y).weights_[2] for theta in (0.001, 0.01, 0.1, 1.0)]
    assert (np.diff(relevant) > 0).all()
    gains = []
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(80, 8))
        X[:, 2] += 2.5 * y
        plain = cross_val_score(KNeighborsClassifier(1), X, y).mean()
        gains.append(cross_val_score(SQPFeatureWeighting(theta=1.0), X, y).mean() - plain)
    # One of seven noise features is dropped after the other: 4 points on average over 12 draws.
    assert np.mean(gains) > 0.02


def test_predicts_as_weighted_neighbours(noisy):
    X, y = noisy
    fitted = SQPFeatureWeighting(theta=0.1, n_neighbors=5).fit(X[:60], y[:60])
    scaled = KNeighborsClassifier(5).fit(X[:60] * np.sqrt(fitted.weights_), y[:60])
    assert_array_equal(fitted.predict(X[60:]), scaled.predict(X[60:] * np.sqrt(fitted.weights_)))
    assert_allclose(fitted.predict_proba(X[60:]), scaled.predict_proba(X[60:] * np.sqrt(fitted.weights_)))
    assert_array_equal(fitted.get_support(), fitted.weights_ > 0)


def test_target_neighbours_are_those_of_the_callers_rows(noisy):
    X, y = noisy
    y = np.where(y == 1, "b", "a")
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    fitted = SQPFeatureWeighting(2, 3, theta=0.05).fit(X, y)
    for i in range(len(X)):
        d = ((X - X[i]) ** 2) @ fitted.weights_
        hits, misses = np.flatnonzero((y == y[i]) & (np.arange(len(X)) != i)), np.flatnonzero(y != y[i])
        assert fitted.target_hits_[i] in hits
        assert fitted.target_misses_[i] in misses
        assert d[fitted.target_hits_[i]] == pytest.approx(np.sort(d[hits])[1], abs=1e-9)
        assert d[fitted.target_misses_[i]] == pytest.approx(np.sort(d[misses])[2], abs=1e-9)
    for name, of_hits in (("hits", True), ("misses", False)):
        for sample, member in fitted.active_set_[name]:
            d = ((X - X[sample]) ** 2) @ fitted.weights_
            target = (fitted.target_hits_ if of_hits else fitted.target_misses_)[sample]
            assert d[member] == pytest.approx(d[target], abs=1e-9)
            assert (y[member] == y[sample]) == of_hits
    assert_array_equal(fitted.active_set_["weights"], np.flatnonzero(fitted.weights_ == 0))


def test_small_classes(noisy):
    X, y = noisy
    y = y.copy()
    y[0] = 2
    fitted = SQPFeatureWeighting().fit(X, y)
    assert fitted.n_skipped_ == 1
    assert fitted.target_hits_[0] == fitted.target_misses_[0] == -1
    assert 0 in SQPFeatureWeighting(theta=0.0).fit(np.r_[X[:1] * 0 + X[1] + 1e-3, X[1:]], y).target_misses_
    with pytest.raises(ValueError, match=r'1 of 80 samples lack 1 others of their class .* small_classes="skip"'):
        SQPFeatureWeighting(small_classes="error").fit(X, y)
    with pytest.raises(ValueError, match="no sample has 90 others of its class"):
        SQPFeatureWeighting(90).fit(X, y)


@pytest.mark.parametrize(
    ("w_bar", "message"),
    [
        (["a"] * 8, "w_bar must hold 8 numbers"),
        ([0.125j] * 8, "w_bar must hold 8 numbers"),
        (np.ones(8), "8 weights of at least 0 whose sum is 1"),
        (np.full(7, 1 / 7), "8 weights"),
        (np.eye(8)[0] * 2 - np.eye(8)[1], "8 weights"),
        (np.eye(8)[7], "w_bar is 0 for every feature that varies"),
    ],
)
def test_bad_prior(noisy, w_bar, message):
    X, y = noisy
    X = X.copy()
    X[:, 7] = 1.0
    with pytest.raises(ValueError, match=message):
        SQPFeatureWeighting(w_bar=w_bar).fit(X, y)


def test_prior_with_zeros(noisy):
    X, y = noisy
    prior = np.r_[0.5, 0.5, np.zeros(6)]
    fitted = SQPFeatureWeighting(theta=0.3, w_bar=prior).fit(X, y)
    assert fitted.certificate_.optimal
    assert fitted.weights_[2] > 0
    assert_allclose(SQPFeatureWeighting(theta=0.0, w_bar=prior).fit(X, y).weights_, prior)
    assert SQPFeatureWeightingPath(theta_max=0.3, w_bar=prior).fit(X, y).weights_[2] > 0


def test_constant_features(noisy):
    X, y = noisy
    with pytest.warns(RuntimeWarning, match="no feature varies"):
        fitted = SQPFeatureWeighting().fit(np.ones((10, 3)), np.arange(10) % 2)
    assert_array_equal(fitted.weights_, 0)
    assert fitted.predict([[1, 1, 1]]).shape == (1,)
    single = SQPFeatureWeighting().fit(X[:, :1], y)
    assert_allclose(single.weights_, [1.0])
    assert single.certificate_.optimal


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 120)), np.arange(16) % 2
    X[:, 3] += 3 * y
    fitted = SQPFeatureWeighting(theta=1.0).fit(X, y)
    assert fitted.certificate_.optimal
    assert fitted.weights_.argmax() == 3
    assert 0 < (fitted.weights_ > 0).sum() < 120


def test_step_limit(noisy):
    fitted = SQPFeatureWeighting(theta=1.0, max_iter=5).fit(*noisy)
    assert (fitted.converged_, fitted.n_steps_) == (False, 5)
    assert not fitted.certificate_.optimal
    assert fitted.certificate_.inconsistent == 0


def test_certificate_sees_what_is_wrong(noisy, oracles):
    from mfbench_sqpfw._run import begin
    from mfbench_sqpfw.certificate import certify

    X, y = noisy
    s = begin(oracles.prepared(X, y, 1, 1))
    for _ in oracles.run(s, 0.1):
        pass
    data, w = oracles.prepared(X, y, 1, 1), oracles.weights(s)
    ties = [np.array([rep]) for rep in s.rep]
    for k in range(s.counts[2]):
        ties[s.tie_row[k]] = np.append(ties[s.tie_row[k]], s.tie_member[k])

    held = s.perm[s.counts[0] :]

    def check(w=w, theta=0.1, ties=ties):
        return certify(data.X, data.codes, data.targets, w, data.bar, theta, ties, s.n_less, (1, 1), held)

    assert check().optimal
    assert not check(theta=0.2).optimal
    assert check(w=w * 1.1).infeasibility == pytest.approx(0.1)
    other = [ties[0][:0], *ties[1:]]
    other[0] = np.array([next(j for j in range(1, 40) if j != s.rep[0])])
    assert check(ties=other).inconsistent >= 1
    shifted = w.copy()
    shifted[:2] += [0.01, -0.01]
    assert not check(w=shifted).optimal


def test_cv_chooses_along_the_path(noisy):
    X, y = noisy
    fitted = SQPFeatureWeightingCV(n_thetas=8, cv=3, neighbourhoods=((1, 1), (2, 2)), random_state=0).fit(X, y)
    assert fitted.cv_errors_.shape == (2, 3, 8)
    best = np.argwhere(fitted.cv_errors_ == fitted.cv_errors_.min())
    assert fitted.theta_ == fitted.thetas_[best[:, 2].min()]
    again = SQPFeatureWeightingPath(fitted.kappa_, fitted.lam_, fitted.theta_).fit(X, y)
    assert_allclose(again.weights_, fitted.weights_)
    # One entry recomputed by hand: a path and a classifier per fold.
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import check_random_state

    folds = StratifiedKFold(3, shuffle=True, random_state=check_random_state(0).randint(2**31 - 1)).split(X, y)
    wrong = 0
    for train, test in folds:
        w = SQPFeatureWeightingPath(2, 2, 1.0).fit(X[train], y[train]).weights_at(fitted.thetas_[5])
        knn = KNeighborsClassifier(3).fit(X[train] * np.sqrt(w), y[train])
        wrong += (knn.predict(X[test] * np.sqrt(w)) != y[test]).sum()
    assert fitted.cv_errors_[1, 1, 5] == pytest.approx(wrong / 80)


def test_cv_leaves_out_what_cannot_be(noisy):
    X, y = noisy
    fitted = SQPFeatureWeightingCV(n_thetas=3, cv=2, neighbourhoods=((1, 1), (60, 1))).fit(X, y)
    assert np.isnan(fitted.cv_errors_[1]).all()
    with pytest.raises(ValueError, match="no sample has 60 others"):
        SQPFeatureWeightingCV(n_thetas=3, cv=2, neighbourhoods=((60, 1),)).fit(X, y)
    with pytest.raises(ValueError, match="theta_min"):
        SQPFeatureWeightingCV(theta_min=2.0).fit(X, y)


def test_same_seed_same_result():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(40, 6)).astype(float), np.arange(40) % 2
    first, second = (SQPFeatureWeighting(theta=0.3, random_state=7).fit(X, y) for _ in range(2))
    assert_array_equal(first.weights_, second.weights_)


@pytest.mark.parametrize("method", [SQPFeatureWeighting, SQPFeatureWeightingPath, SQPFeatureWeightingCV])
@pytest.mark.parametrize(
    ("scale", "message"), [(1e20, "lower theta or standardise"), (1e80, "standardise the features"), (1e160, "ranges")]
)
def test_scales_beyond_rounding(noisy, method, scale, message):
    X, y = noisy
    with pytest.raises(ValueError, match=message):
        method().fit(scale * X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-20])
def test_small_scales_stay_at_the_prior(noisy, scale):
    X, y = noisy
    for method in (SQPFeatureWeighting, SQPFeatureWeightingPath):
        assert_allclose(method().fit(scale * X, y).weights_, 1 / 8)


@pytest.mark.parametrize("theta", [1e5, 1e8, 1e10])
def test_certificate_for_a_heavy_loss(noisy, theta):
    """Rounding grows with theta; it is no violation. An optimum at a vertex may have free weights of 0."""
    assert SQPFeatureWeighting(theta=theta).fit(*noisy).certificate_.optimal
    rng = np.random.default_rng(32)
    kappa, lam = (int(k) for k in rng.integers(1, 4, 2))
    X, y = rng.integers(0, 3, size=(30, 5)).astype(float), np.arange(30) % 2
    assert SQPFeatureWeighting(kappa, lam, theta, random_state=0).fit(X, y).certificate_.optimal


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"neighbourhoods": value}, "neighbourhoods must hold one or more pairs of whole numbers")
        for value in ([], [(1,)], [1, 2], [(0, 1)], [(1, -1)], [(1.5, 1)], [("a", 1)], [(1, 1), (1,)])
    ]
    + [
        ({"n_neighbors": value}, "n_neighbors must hold one or more whole numbers")
        for value in ([], [0], [-1], [1.5], [[1, 3]])
    ]
    + [({"cv": folds}, "cv must make one or more folds") for folds in ([], [(range(40), [])], [([], range(40))])],
)
def test_cv_says_what_it_cannot_try(noisy, parameters, message):
    with pytest.raises(ValueError, match=message):
        SQPFeatureWeightingCV(n_thetas=2, **parameters).fit(*noisy)
