"""Stored arrays: nothing is lost, and small numbers take few bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mfbench.run.store.formats import pack, unpack


@given(
    hnp.arrays(
        st.sampled_from([np.int8, np.int64, np.float64, np.bool_, np.uint16]),
        hnp.array_shapes(max_dims=1, max_side=300, min_side=0),
    )
)
def test_packing_loses_nothing(array):
    back = unpack(pack(array))
    np.testing.assert_array_equal(back, array.astype(back.dtype))
    assert back.dtype in (np.int64, np.float64)


def test_packing_at_the_edges_of_its_types(subtests):
    for value in [127, 128, -128, 2**15, -(2**15), 2**31, 2**62, -(2**63)]:
        with subtests.test(value=value):
            assert unpack(pack(np.array([value, 0]))).tolist() == [value, 0]


def test_few_classes_take_few_bytes():
    assert len(pack(np.tile([0, 1, 2], 100))) < 60
