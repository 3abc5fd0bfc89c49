"""The registered methods."""

import numpy as np

from mfbench_sqpfw import SQPFeatureWeightingPath, plugin


def test_specs():
    assert [spec.name for spec in plugin.mfbench_selectors()] == ["sqpfw", "sqpfw-path", "sqpfw-cv"]
    assert [spec.name for spec in plugin.mfbench_classifiers()] == ["sqpfw", "sqpfw-cv"]
    assert all(spec.warm_up for spec in [*plugin.mfbench_selectors(), *plugin.mfbench_classifiers()])


def test_one_fit_serves_the_path():
    """Tuning theta_max follows one path, which has the weights of a separate fit for each value."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    long = SQPFeatureWeightingPath(theta_max=0.5).fit(X, y)
    for theta in (0.01, 0.2):
        assert np.allclose(
            long.weights_at(theta), SQPFeatureWeightingPath(theta_max=theta).fit(X, y).weights_, atol=1e-9
        )
