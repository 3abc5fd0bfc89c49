"""What tests of all estimators of the plugin share: quick variants of each, and comparisons of fits."""

import warnings

from in_turn import in_turn
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import mfbench_margin

# Quick variants with a seed for everything random.
PARAMETERS = {
    "BoostedIM4EIMMIGRATE": {"n_estimators": 3},
    "BoostedIMMIGRATE": {"n_estimators": 3, "random_state": 0},
    "IMMIGRATE": {"random_state": 0},
    "MulRelief": {"max_iter": 5},
    "NCADiagonal": {"n_random_starts": 1, "max_iter": 5, "random_state": 0},
    "Simba": {"n_draws": 50, "n_random_starts": 1, "random_state": 0},
    "TuRF": {"n_kept": 2},
    "VLSRelief": {"n_subsets": 5, "random_state": 0},
}
# Selectors that do not classify; all but the first take missing values.
RELIEF_FAMILY = ["Relief", "ReliefF", "SURF", "SURFStar", "MultiSURF", "MultiSURFStar", "TuRF", "VLSRelief"]
WITH_MISSING = RELIEF_FAMILY[1:]
NAMES = sorted({*mfbench_margin.__all__} - {"RReliefF"})  # those for classes
every = in_turn("name", NAMES)


def make(name, **parameters):
    """Build the quick variant of an estimator."""
    return getattr(mfbench_margin, name)(**{**PARAMETERS.get(name, {}), **parameters})


def quietly(action):
    """Return the result of an action that may warn of few learners, tiny distances, or that no feature has a margin."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*on average no feature")
        warnings.filterwarnings("ignore", message=".*distances are so small")
        warnings.filterwarnings("ignore", message=".*keeps . of . learners")
        warnings.filterwarnings("ignore", message="no feature weighs more")
        return action()


def results(fitted, X):
    """Return everything in which two fits may differ."""
    arrays = [fitted.feature_importances_, fitted.transform(X)]
    return [*arrays, fitted.predict(X), fitted.predict_proba(X)] if hasattr(fitted, "predict") else arrays


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)
