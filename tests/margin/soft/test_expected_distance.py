import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import IM4E

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def standardised(make_table, seed, n=30, n_classes=2, p=4):
    X, y, _ = make_table(seed, n, p - 1, 1, n_classes=n_classes)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def fitted(X, y, sample_weight=None, **parameters):
    return IM4E(**parameters).fit(X, y, sample_weight)


def test_tiny_sigma_predicts_the_nearest_neighbour(make_table):
    X, y = standardised(make_table, 8, 40, 3)
    model = fitted(X, y, sigma=1e-6)
    queries = np.random.default_rng(0).normal(size=(50, 4))
    distances = (np.abs(queries[:, None] - X[None]) * model.weights_).sum(axis=2)
    assert_array_equal(model.predict(queries), y[distances.argmin(axis=1)])
    distances = (np.abs(X[:, None] - X[None]) * model.weights_).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert_array_equal(model.predict_training(), y[distances.argmin(axis=1)])


def test_huge_sigma_predicts_the_smallest_mean_distance(make_table):
    X, y = standardised(make_table, 9, 40, 3)
    model = fitted(X, y, sigma=1e9)
    distances = (np.abs(X[:, None] - X[None]) * model.weights_).sum(axis=2)
    means = np.column_stack([distances[:, y == c].mean(axis=1) for c in model.classes_])
    assert_array_equal(model.predict(X), model.classes_[means.argmin(axis=1)])


def test_three_rules_agree(make_table):
    for n_classes in (2, 3):
        X, y = standardised(make_table, 10, 40, n_classes)
        model = fitted(X, y, sigma=0.3)
        expected = model.expected_distances(X)
        assert_array_equal(model.predict(X), model.classes_[expected.argmin(axis=1)])
        scores = expected[:, 0] - expected[:, 1] if n_classes == 2 else -expected
        assert_array_equal(model.decision_function(X), scores)
        shares = np.exp(-expected / 0.3)
        assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), **CLOSE)


def test_equally_near_classes_go_to_the_first():
    X, y = np.array([[-2.0], [-1], [1], [2]]), np.array(["a", "a", "b", "b"])
    assert fitted(X, y).predict([[0.0]]).tolist() == ["a"]
    assert fitted(X, y[::-1]).predict([[0.0]]).tolist() == ["a"]
