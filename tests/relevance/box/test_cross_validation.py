"""Cross-validation of the penalty."""

import numpy as np

from mfbench_relevance._box.cross_validation import Curve


def test_one_standard_error_is_sparser():
    curve = Curve(np.array([[5.0, 2.2, 2.0], [5.0, 2.1, 2.2], [5.0, 2.2, 1.8]]))
    assert (curve.best(False), curve.best(True)) == (2, 2)
    uneven = curve.losses + np.array([[0, 0, -0.3], [0, 0, 0.3], [0, 0, 0.1]])
    assert Curve(uneven).best(True) == 1
