"""Random splits into a training and a test part: their sizes."""

import numpy as np
import pytest

from mfbench.suite.protocols import Holdout


class TestHoldout:
    @pytest.mark.parametrize(("n", "tested"), [(62, 21), (72, 24), (102, 34), (74, 25)])
    def test_two_to_one(self, n, tested):
        protocol = Holdout(10, 1 / 3, 10, stratified=True, seed=0)
        (split,) = protocol.splits("d", np.arange(n) % 2, 0)
        assert (len(split.train), len(split.test)) == (n - tested, tested)
        assert protocol.test_train_ratio == pytest.approx(0.5)
