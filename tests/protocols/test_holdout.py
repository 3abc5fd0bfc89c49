"""Random splits into a training and a test part: their sizes."""

import numpy as np
import pytest

from mfbench_protocols.splits import Holdout


class TestHoldout:
    def test_two_to_one(self):
        for n, tested in [(62, 21), (72, 24), (102, 34), (74, 25)]:
            protocol = Holdout(10, 1 / 3, 10, stratified=True, seed=0)
            (split,) = protocol.splits("d", np.arange(n) % 2, 0)
            assert (len(split.train), len(split.test)) == (n - tested, tested)
            assert protocol.test_train_ratio == pytest.approx(0.5)
