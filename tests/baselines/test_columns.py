"""Fixed columns: the requested range is kept, regardless of the data."""

import numpy as np
import pytest
from in_turn import in_turn

from mfbench_baselines.filters import FixedColumns

X = np.arange(20.0).reshape(4, 5)


@in_turn(
    "first, count, kept", [(0, None, [0, 1, 2, 3, 4]), (0, 2, [0, 1]), (3, None, [3, 4]), (2, 2, [2, 3]), (4, 1, [4])]
)
def test_the_range_is_kept(first, count, kept):
    selector = FixedColumns(first=first, count=count).fit(X)
    assert np.flatnonzero(selector.feature_importances_).tolist() == kept
    assert np.array_equal(selector.transform(X), X[:, kept])


@in_turn("first, count", [(-1, 2), (0, 0), (5, None), (3, 3), (0, 6), (0, -1)])
def test_invalid_ranges_raise(first, count):
    with pytest.raises(ValueError, match="not a range of the 5 features"):
        FixedColumns(first=first, count=count).fit(X)
