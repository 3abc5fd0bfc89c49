"""The Relief family for a target that is a number: scikit-rebate, a brute force of RReliefF, and invariances."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mfbench_margin
from mfbench_margin import ReliefF, RReliefF

PEERS = {
    "ReliefF": "ReliefF",
    "SURF": "SURF",
    "SURFStar": "SURFstar",
    "MultiSURF": "MultiSURF",
    "MultiSURFStar": "MultiSURFstar",
}
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def table(seed=0, n=80, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 2.0 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def weights(name, X, y, **parameters):
    own = {} if name == "RReliefF" else {"target": "numbers"}
    return getattr(mfbench_margin, name)(**own, **parameters).fit(X, y).feature_importances_


@pytest.mark.parametrize(
    ("name", "missing"), [*((name, 0.0) for name in PEERS), ("MultiSURF", 0.1), ("MultiSURFStar", 0.1)]
)
def test_the_weights_are_those_of_scikit_rebate(name, missing):
    """Its ReliefF makes a row with fewer hits than k its own hit, so here all rows have more."""
    skrebate = pytest.importorskip("skrebate")
    X, y = table(missing=missing)
    y = np.argsort(np.argsort(y)) + 0.5
    k = {"n_neighbors": 10} if name == "ReliefF" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        peer = getattr(skrebate, PEERS[name])(n_features_to_select=6, n_jobs=1, **k).fit(X.copy(), y)
    assert_allclose(weights(name, X, y, **k), peer.feature_importances_, **EXACT)


def by_hand(X, y, nominal, k, sigma):
    n, p = X.shape
    spread = np.where(nominal, 1.0, np.ptp(X, axis=0))
    differences = np.abs(X[:, None] - X[None]) / spread
    differences[..., nominal] = X[:, None, nominal] != X[None][..., nominal]
    of_target, differing, both = 0.0, np.zeros(p), np.zeros(p)
    for i in range(n):
        distance = differences[i].sum(axis=1)
        distance[i] = np.inf
        nearest = np.argsort(distance, kind="stable")[: min(k, n - 1)]
        influence = np.exp(-((np.arange(1, len(nearest) + 1) / sigma) ** 2)) if sigma else np.ones(len(nearest))
        for j, share in zip(nearest, influence / influence.sum(), strict=True):
            tau = abs(y[i] - y[j]) / np.ptp(y)
            of_target += tau * share
            differing += differences[i, j] * share
            both += tau * differences[i, j] * share
    return both / of_target - (differing - both) / (n - of_target)


@pytest.mark.parametrize(("k", "sigma"), [(70, 20.0), (10, None), (5, 2.0), (500, 20.0)])
def test_rrelieff_is_its_definition(k, sigma):
    X, y = table()
    X[:, 5] = np.random.default_rng(1).integers(0, 3, len(X))
    nominal = np.arange(6) == 5
    found = weights("RReliefF", X, y, n_neighbors=k, sigma=sigma, categorical_features=[5])
    assert_allclose(found, by_hand(X, y, nominal, k, sigma), **EXACT)


def test_rrelieff_is_that_of_corelearn():
    """CORElearn 1.57.3.1 in R with all rows, RReliefFequalK and differences without thresholds (0 and 1).

    Its RReliefFexpRank is ours with ranks that begin at 0; the paper's begin at 1.
    """
    peer = {
        5: "0.053705365908 0.009961250219 -0.016100141512 -0.011710398152 -0.005637621068 -0.013466000812",
        70: "0.113762572129 0.020155195746 -0.017294453219 -0.008500595413 -0.011081292123 -0.017451898531",
    }
    for k, found in peer.items():
        assert_allclose(
            weights("RReliefF", *table(), n_neighbors=k, sigma=None), np.fromstring(found, sep=" "), atol=1e-11
        )


@pytest.mark.parametrize("name", [*PEERS, "RReliefF"])
class TestProperties:
    def test_units_and_the_order_of_rows_do_not_matter(self, name):
        X, y = table()
        base, order = weights(name, X, y), np.random.default_rng(2).permutation(len(X))
        assert_allclose(weights(name, 7.0 * X + 3.0, -1000.0 * y + 5.0), base, **EXACT)
        assert_allclose(weights(name, X[order], y[order]), base, **EXACT)

    def test_whole_numbers_are_numbers(self, name):
        X, y = table()
        assert weights(name, X, np.rint(3.0 * y))[0] > 0

    def test_a_constant_feature_and_duplicates(self, name):
        X, y = table()
        X[:, 4] = 1.0
        X, y = np.vstack([X, X]), np.concatenate([y, y])
        found = weights(name, X, y)
        assert found[4] == 0.0 and np.isfinite(found).all()

    def test_one_feature_and_two_rows(self, name):
        found = weights(name, np.array([[0.0], [1.0]]), np.array([1.0, 2.0]))
        assert found.shape == (1,) and np.isfinite(found).all()

    def test_equal_numbers_are_refused(self, name):
        with pytest.raises(ValueError, match="at least two different numbers in y"):
            weights(name, np.eye(4), np.ones(4))


def test_fewer_neighbours_after_the_fit():
    X, y = table()
    fitted = ReliefF(10, target="numbers").fit(X, y)
    assert_allclose(fitted.importances_at(3), weights("ReliefF", X, y, n_neighbors=3), **EXACT)


def test_a_draw_of_rows():
    X, y = table()
    one, other = (RReliefF(n_samples=40, random_state=seed).fit(X, y) for seed in (0, 0))
    assert one.sample_indices_.shape == (40,)
    assert one.feature_importances_.tolist() == other.feature_importances_.tolist()
