"""Levels of columns: few values stay, cuts by description length are those of a search through all partitions."""

import itertools

import numpy as np
import pytest

from mfbench_information._levels import classes_of, levels_of


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / max(len(labels), 1)
    return float(-(shares * np.log2(shares)).sum())


def cuts_of(values, classes):
    """Fayyad and Irani's criterion, written as in their paper: the cut points of one column."""
    best = None
    for cut in (np.unique(values)[:-1] + np.unique(values)[1:]) / 2:
        left, right = classes[values <= cut], classes[values > cut]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(values)
        if best is None or after < best[0] - 1e-12:
            best = after, cut, left, right
    if best is None:
        return []
    after, cut, left, right = best
    n_classes, n_left, n_right = (len(np.unique(part)) for part in (classes, left, right))
    change = np.log2(3.0**n_classes - 2.0)
    change -= n_classes * entropy(classes) - n_left * entropy(left) - n_right * entropy(right)
    if entropy(classes) - after <= (np.log2(len(values) - 1.0) + change) / len(values):
        return []
    low, high = values <= cut, values > cut
    return [*cuts_of(values[low], classes[low]), float(cut), *cuts_of(values[high], classes[high])]


@pytest.mark.parametrize(("n_classes", "decimals"), [(2, 8), (3, 1), (5, 8), (2, 0)])
def test_cuts_by_description_length(n_classes, decimals):
    rng = np.random.default_rng(n_classes + decimals)
    classes = rng.integers(0, n_classes, 120)
    X = np.round(rng.normal(size=(120, 6)) + np.arange(6) * classes[:, None], decimals)
    codes, sizes = levels_of(X, classes, "mdl", 5)
    expected = [cuts_of(column, classes) for column in X.T]
    assert sizes.tolist() == [len(cuts) + 1 for cuts in expected]
    assert max(map(len, expected)) > 1
    for column, row, cuts in zip(X.T, codes, expected, strict=True):
        assert row.tolist() == np.searchsorted(cuts, column).tolist()


def test_a_column_of_few_values_keeps_them():
    X = np.array([[3.0, 0.5], [1.0, 0.1], [2.0, 0.7], [3.0, 0.9], [1.0, 0.3], [2.0, 0.2]])
    classes = np.array([0, 1, 0, 1, 0, 1])
    codes, _ = levels_of(X, classes, "width", 3)
    assert codes[0].tolist() == [2, 0, 1, 2, 0, 1]
    assert codes[1].tolist() == [1, 0, 2, 2, 0, 0]
    assert levels_of(X[:, :1] == 3.0, classes, "mdl", 5)[1].tolist() == [2]


def test_bins_of_equal_frequency_without_ties_are_even():
    x = np.random.default_rng(0).permutation(100).astype(float)[:, None]
    for bins in (2, 3, 5, 10):
        codes, sizes = levels_of(x, np.arange(100) % 2, "frequency", bins)
        assert sizes.tolist() == [bins]
        assert np.ptp(np.bincount(codes[0])) <= 1


@pytest.mark.parametrize("share", [0.25, 0.5, 0.95])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_frequent_value_has_a_level_of_its_own(share, sign):
    rng = np.random.default_rng(1)
    x = sign * np.where(rng.random(400) < share, 0.0, rng.exponential(size=400))
    both = np.where(rng.random(400) < share, 0.0, rng.normal(size=400))
    codes, _ = levels_of(np.column_stack([x, both]), np.arange(400) % 2, "frequency", 5)
    for column, row in ((x, codes[0]), (both, codes[1])):
        assert len(np.unique(row[column == 0])) == 1
        assert not np.isin(row[column != 0], row[column == 0]).any()
        assert (np.diff(row[np.argsort(column, kind="stable")].astype(int)) >= 0).all()


@pytest.mark.parametrize("binning", ["frequency", "width", "mdl"])
def test_a_constant_column_has_one_level(binning):
    assert levels_of(np.full((8, 1), 7.0), np.arange(8) % 2, binning, 4)[1].tolist() == [1]


def test_numbers_to_predict_become_classes_of_equal_frequency():
    assert np.bincount(classes_of(np.random.default_rng(0).normal(size=100), 5)).tolist() == [20] * 5
    assert classes_of(np.array([0, 2, 1]), 5).tolist() == [0, 2, 1]


def test_levels_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(3)
    X, classes = np.round(rng.normal(size=(60, 4)), 1), rng.integers(0, 2, 60)
    order = rng.permutation(60)
    for binning, bins in itertools.product(("frequency", "mdl"), (2, 7)):
        codes = levels_of(X, classes, binning, bins)[0]
        assert (levels_of(X[order], classes[order], binning, bins)[0] == codes[:, order]).all()
