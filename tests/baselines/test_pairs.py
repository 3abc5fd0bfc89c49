"""All methods report interactions in one form, so that a protocol can compare them."""

from importlib import import_module

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import mfbench_margin.plugin
from mfbench_baselines import plugin
from mfbench_baselines._classifier import pair_matrix
from mfbench_baselines.soda import SODA

SPECS = {
    spec.name: spec
    for spec in [*plugin.mfbench_classifiers(), *mfbench_margin.plugin.mfbench_classifiers()]
    if "interactions" in spec.tags and not spec.requires
}
# Signed differences do not reveal a product: for each of them there is one with the opposite sign.
NO_PRODUCTS = {"lfe"}
# Fast settings for methods whose defaults are too slow for a small test.
QUICK = {
    "hiernet": {"relative_penalty": 0.2},
    "bim": {"n_estimators": 5},
    "boosted-im4e-immigrate": {"n_estimators": 5},
    "soda": {"gamma": 1.0},
}


def test_methods_with_interactions():
    assert {"soda", "hiernet", "xgboost-interactions", "logistic-interactions", "immigrate"} <= set(SPECS)


@pytest.mark.parametrize("name", [name for name in SPECS if name not in NO_PRODUCTS])
def test_the_planted_pair_comes_first(name):
    rng = np.random.default_rng(0)
    X = StandardScaler().fit_transform(rng.normal(size=(300, 5)))
    # Both features also act on their own, so that weak hierarchy and screening do not hide the pair.
    y = 0.7 * X[:, 1] + 0.7 * X[:, 3] + 2 * X[:, 1] * X[:, 3] + 0.5 * rng.normal(size=300) > 0
    spec = SPECS[name]
    module, _, factory = spec.factory.partition(":")
    model = getattr(import_module(module), factory)(**{**spec.defaults, **QUICK.get(name, {})})
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    weights = model.fit(X, y).interaction_importances_
    assert weights.shape == (5, 5) and np.isfinite(weights).all()
    np.testing.assert_allclose(weights, weights.T, atol=1e-12)
    off = np.abs(np.triu(weights, 1))
    assert np.unravel_index(off.argmax(), off.shape) == (1, 3)


def test_pair_matrix_by_hand():
    model = SODA().fit(np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2)
    expected = [[0, 0, 2.5], [0, 0, 0], [2.5, 0, 0]]
    assert pair_matrix(model, {(2, 0): 2.5}).tolist() == expected
    model.n_features_in_ = 5001
    with pytest.raises(AttributeError, match="more than 5000 features"):
        pair_matrix(model, {})
