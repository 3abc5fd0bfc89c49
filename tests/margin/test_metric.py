from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import LFE

EXACT = {"rtol": 0, "atol": 1e-9}


def test_transform_maps_to_the_metric(messy_table):
    X, y = messy_table(8)
    fitted = LFE(output="metric").fit(X, y)
    mapped = fitted.transform(X)
    assert_allclose(mapped, X @ fitted.components_.T, **EXACT)
    difference = X[3] - X[9]
    assert_allclose(((mapped[3] - mapped[9]) ** 2).sum(), difference @ fitted.matrix_ @ difference, **EXACT)
    assert fitted.get_feature_names_out().tolist() == [f"lfe{a}" for a in range(mapped.shape[1])]
    assert not hasattr(fitted, "inverse_transform")
    assert list(fitted.set_output(transform="pandas").transform(X)) == fitted.get_feature_names_out().tolist()


def test_transform_selects_features(messy_table):
    X, y = messy_table(8)
    fitted = LFE().fit(X, y)
    assert_array_equal(fitted.transform(X), X[:, :-1])
    assert fitted.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4"]
    assert_array_equal(fitted.inverse_transform(X[:, :-1])[:, -1], 0)
