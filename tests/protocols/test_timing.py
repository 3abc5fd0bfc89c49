"""Sub-samples of growing size: smaller ones are parts of larger ones."""

import itertools

import numpy as np

from mfbench_protocols.splits import Timing

Y = np.repeat([0, 1, 2], [60, 45, 15])


class TestTiming:
    def test_smaller_parts_lie_within_larger_ones(self):
        protocol = Timing(2, 4, seed=0)
        splits = protocol.splits("d", Y, 1)
        assert [len(split.train) for split in splits] == [12, 24, 48, 96, 96, 96, 96]
        for small, large in itertools.pairwise(splits[:4]):
            assert set(small.train) <= set(large.train)
        assert all(np.array_equal(split.test, splits[0].test) for split in splits)
        features = [split.features(20) for split in splits]
        assert features[:4] == [None] * 4
        assert [len(found) for found in features[4:]] == [10, 5, 3]
        assert set(features[6]) <= set(features[5]) <= set(features[4])

    def test_repeats_have_other_rows_and_other_features(self):
        one, other = (Timing(2, 3, seed=0).splits("d", Y, repeat) for repeat in (0, 1))
        assert not np.array_equal(one[0].train, other[0].train)
        assert not np.array_equal(one[3].features(40), other[3].features(40))
