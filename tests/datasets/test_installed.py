"""Datasets that scikit-learn ships: rows of the UCI files."""

import numpy as np

from mfbench_datasets import installed


def test_first_rows(words):
    assert words(installed.iris(), 0) == [5.1, 3.5, 1.4, 0.2, "setosa"]
    assert installed.iris().X[34].tolist() == [4.9, 3.1, 1.5, 0.2], "the corrected row 35"
    assert words(installed.wine(), 0)[:3] == [14.23, 1.71, 2.43] and words(installed.wine(), 0)[-1] == "1"
    assert words(installed.wdbc(), 0)[:2] == [17.99, 10.38] and words(installed.wdbc(), 0)[-1] == "malignant"
    digits = installed.optdigits()
    assert digits.X.min() == 0 and digits.X.max() == 16 and (np.ptp(digits.X, axis=0) == 0).sum() == 3
