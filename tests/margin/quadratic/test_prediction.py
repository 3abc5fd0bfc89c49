import numpy as np
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

import mfbench_margin


def make(**parameters):
    return mfbench_margin.IMMIGRATE(**parameters)


@in_turn("n_classes", [2, 3])
@in_turn("sigma", [0.01, 0.8, 100.0])
@in_turn("cone", ["psd", "nonneg"])
def test_prediction(immigrate_oracles, make_groups, n_classes, sigma, cone):
    X, y = make_groups(10, n_classes=n_classes)
    rows, _ = make_groups(11, n=30)
    fitted = make(sigma=sigma, solver="published", cone=cone).fit(X, y)
    expected = immigrate_oracles.expected_distances(fitted.matrix_, X, y, sigma, rows)
    assert_allclose(fitted.expected_distances(rows), expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(fitted.predict(rows), expected.argmin(axis=1))
    assert_allclose(fitted.predict_proba(rows), softmax(-expected / sigma, axis=1), rtol=1e-6, atol=1e-12)
    decision = expected[:, 0] - expected[:, 1] if n_classes == 2 else -expected
    assert_allclose(fitted.decision_function(rows), decision, rtol=1e-7, atol=1e-9)


def test_narrow_sigma_predicts_the_nearest(immigrate_oracles, make_groups):
    X, y = make_groups(12, n=40, n_classes=3)
    rows, _ = make_groups(13, n=50)
    fitted = make(sigma=1e-7, solver="published", max_iter=2).fit(X, y)
    q = immigrate_oracles.quadratic(immigrate_oracles.differences(rows, X), fitted.matrix_)
    assert_array_equal(fitted.predict(rows), y[q.argmin(axis=1)])


def test_wide_sigma_predicts_the_smallest_mean_distance(immigrate_oracles, make_groups):
    X, y = make_groups(14, n=40)
    rows, _ = make_groups(15, n=50)
    fitted = make(sigma=1e7, solver="published", max_iter=2).fit(X, y)
    q = immigrate_oracles.quadratic(immigrate_oracles.differences(rows, X), fitted.matrix_)
    means = np.column_stack([q[:, y == c].mean(axis=1) for c in (0, 1)])
    assert_array_equal(fitted.predict(rows), means.argmin(axis=1))


def test_class_of_one_sample_is_predicted_too(make_groups):
    X, y = make_groups(16, alone=True)
    alone = np.flatnonzero(y == 2)
    X[alone] = 30.0
    fitted = make(solver="published").fit(X, y)
    assert fitted.predict(X[alone] + 0.1).tolist() == [2]
    assert fitted.n_skipped_ == 1
