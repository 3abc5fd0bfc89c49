"""Random thirds: their sizes, and the ratio of test to training rows."""

import numpy as np
import pytest

from mfbench_protocols.splits import ThreeWay


class TestThreeWay:
    @pytest.mark.parametrize("n", [120, 121, 122])
    def test_thirds_with_the_remainder_in_training(self, n):
        (split,) = ThreeWay(10, stratified=False, refit=False, seed=0).splits("d", np.arange(n) % 2, 3)
        assert (len(split.train), len(split.tuning[1]), len(split.test)) == (n - 2 * (n // 3), n // 3, n // 3)

    def test_ratio(self):
        assert ThreeWay(10, stratified=False, refit=False, seed=0).test_train_ratio == 1.0
        assert ThreeWay(10, stratified=False, refit=True, seed=0).test_train_ratio == 0.5
