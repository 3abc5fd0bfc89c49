"""Assembly of a dataset: permutation of the columns with the truth, and the response of a cut at the median."""

import numpy as np
import pytest

from mfbench import load_dataset
from mfbench_datasets.ground_truth.assembly import assemble, streams


def test_order_permutes_columns_and_truth_together():
    X, y = np.arange(12.0).reshape(2, 6), np.array([0, 1])
    names = tuple("abcdef")
    plain = assemble("xor", X, y, names, (0, 4), ((0, 4),))
    assert plain.feature_names == names and plain.relevant == (0, 4) and np.array_equal(plain.X, X)
    permuted = assemble("xor", X, y, names, (0, 4), ((0, 4),), order=streams("xor", 3, 1)[0])
    assert permuted.feature_names != names and sorted(permuted.feature_names) == sorted(names)
    assert {permuted.feature_names[j] for j in permuted.relevant} == {"a", "e"}
    assert {permuted.feature_names[j] for j in permuted.interactions[0]} == {"a", "e"}
    assert np.array_equal(permuted.X, X[:, [names.index(name) for name in permuted.feature_names]])


@pytest.mark.parametrize("name", ["rfvm-simulation-1", "rfvm-simulation-2", "friedman-1"])
def test_datasets_cut_at_the_median_keep_the_response(name):
    dataset = load_dataset(f"{name}(n_samples=60)")
    assert dataset.task == "classification"
    assert dataset.response.dtype == np.float64
    np.testing.assert_array_equal(dataset.y, dataset.response > np.median(dataset.response))
