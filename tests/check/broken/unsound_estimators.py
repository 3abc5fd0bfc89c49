"""Methods that pass or fail single checks of scikit-learn, a plugin."""

import numpy as np
from correct_methods import MeanGap

from mfbench import SelectorSpec, hookimpl

NAN = "scikit-learn:check_estimators_nan_inf"


class AcceptsMissingValues(MeanGap):
    def fit(self, X, y):
        return super().fit(np.nan_to_num(np.asarray(X)), y)


class Plain:
    """Fits, but is not an estimator of scikit-learn."""

    def fit(self, X, y):
        self.feature_importances_ = np.ptp(X, axis=0)
        return self


@hookimpl
def mfbench_selectors():
    rows = [
        ("accepts-missing-values", AcceptsMissingValues, {}),
        ("declares-it", AcceptsMissingValues, {NAN: "it fills them in"}),
        ("declares-too-much", MeanGap, {NAN: "not any more"}),
        ("declares-another-version", MeanGap, {"scikit-learn:check_of_1999": "gone"}),
        ("plain", Plain, {}),
    ]
    return [
        SelectorSpec(
            name=name,
            summary=name,
            factory=f"{__name__}:{method.__name__}",
            expected_failures=declared,
            complexity="n**2 * p",
        )
        for name, method, declared in rows
    ]
