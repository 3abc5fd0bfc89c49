"""The wrapper of scikit-rebate: the same importances, and a clear error if the package is missing."""

import sys

import numpy as np
import pytest

from mfbench_baselines.rebate import ALGORITHMS, RebateFilter

skrebate = pytest.importorskip("skrebate")


def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_importances_match_scikit_rebate(algorithm):
    X, y = sample()
    theirs = getattr(skrebate, algorithm)(n_features_to_select=6).fit(X.copy(), (y == "yes").astype(int))
    ours = RebateFilter(algorithm=algorithm).fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert set(np.argsort(-ours.feature_importances_)[:2]) == {0, 1}


def test_missing_package_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "skrebate", None)
    with pytest.raises(ImportError, match="SURF needs scikit-rebate: pip install skrebate"):
        RebateFilter(algorithm="SURF").fit(*sample())


def test_unknown_algorithm_raises():
    with pytest.raises(ValueError, match="one of SURF, SURFstar"):
        RebateFilter(algorithm="TuRF").fit(*sample())
