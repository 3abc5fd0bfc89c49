"""Boolean concepts: the rules written out by hand, relevant bits, interactions, published files."""

from itertools import product

import numpy as np
import pytest

from mfbench_datasets.ground_truth import boolean

RULES = [boolean.corral, boolean.mofn_3_7_10, boolean.mux6, boolean.parity5_plus_5]


@pytest.mark.parametrize("make", RULES)
def test_relevant_bits_are_exactly_those_the_rule_depends_on(make):
    """Flip one bit of every point: the most frequent label changes somewhere if and only if the bit is relevant.

    CorrAL's correlated feature follows the class and is not part of the rule, so it is left out.
    """
    dataset = make()
    keep = [j for j in range(dataset.n_features) if dataset.feature_names[j] != "Correlated"]
    label = {tuple(row): y for row, y in zip(dataset.X[:, keep], dataset.y, strict=True)}
    assert len(label) == 2 ** len(keep)
    depends = {
        keep[j]
        for j in range(len(keep))
        for row, y in label.items()
        if label[(*row[:j], 1 - row[j], *row[j + 1 :])] != y
    }
    assert set(dataset.relevant) == depends


@pytest.mark.parametrize("make", RULES)
def test_pairs_interact(make):
    """Each interaction has a mixed difference: the effect of one bit depends on the other."""
    dataset = make()
    keep = list(dataset.relevant)
    label = {tuple(row): int(y) for row, y in zip(dataset.X[:, keep], dataset.y, strict=True)}
    together = set()
    for i, j in product(range(len(keep)), repeat=2):
        if i >= j:
            continue
        for row in label:
            four = []
            for a, b in product((0.0, 1.0), repeat=2):
                changed = list(row)
                changed[i], changed[j] = a, b
                four.append(label[tuple(changed)])
            if four[3] - four[2] - four[1] + four[0]:
                together.add((keep[i], keep[j]))
    if dataset.name == "corral":  # bits of different conjunctions also interact where both are nearly true
        assert set(dataset.interactions) < together
    else:
        assert set(dataset.interactions) == together


def test_boolean_rules_by_hand():
    for x, y in zip(boolean.corral().X, boolean.corral().y, strict=True):
        assert y == ((x[0] and x[1]) or (x[2] and x[3]))
    for x, y in zip(boolean.mofn_3_7_10().X, boolean.mofn_3_7_10().y, strict=True):
        assert y == (sum(x[2:9]) >= 3)
    for x, y in zip(boolean.mux6().X, boolean.mux6().y, strict=True):
        assert y == {(0, 0): x[2], (0, 1): x[3], (1, 0): x[4], (1, 1): x[5]}[x[0], x[1]]
    for x, y in zip(boolean.parity5_plus_5().X, boolean.parity5_plus_5().y, strict=True):
        assert y == (x[1] != x[2]) ^ (x[3] != x[5]) ^ bool(x[7])


def test_corral_is_the_exact_distribution():
    dataset = boolean.corral()
    agree = dataset.X[:, 5] == dataset.y
    points, inverse = np.unique(dataset.X[:, :5], axis=0, return_inverse=True)
    assert len(points) == 32 and len(np.unique(dataset.X, axis=0)) == 64
    assert np.bincount(inverse.ravel(), weights=agree).tolist() == [3] * 32


def test_four_of_the_five_bits_are_uninformative():
    """Exactly: class means are equal in every cell of any four of the relevant bits."""
    dataset = boolean.parity5_plus_5()
    for left_out in dataset.relevant:
        rest = [j for j in dataset.relevant if j != left_out]
        _, cell = np.unique(dataset.X[:, rest], axis=0, return_inverse=True)
        cell = cell.ravel()
        assert np.array_equal(np.bincount(cell, weights=dataset.y) * 2, np.bincount(cell))


@pytest.mark.parametrize(
    ("make", "copy"),
    [
        (boolean.corral, "corral"),
        (boolean.mofn_3_7_10, "mofn_3_7_10"),
        (boolean.mux6, "mux6"),
        (boolean.parity5_plus_5, "parity5_plus_5"),
    ],
)
def test_published_files_have_the_same_points_and_labels(mirror, make, copy):
    """The files repeat points, so the sets of distinct labelled points are compared."""
    ours, theirs = make(), mirror(copy)
    assert ours.feature_names == theirs.feature_names
    labelled = [{(*x, y) for x, y in zip(d.X.tolist(), d.y.tolist(), strict=True)} for d in (ours, theirs)]
    assert labelled[0] == labelled[1]
    for name in theirs.feature_names:
        assert theirs.categories[name] == ours.categories[name]


def test_published_corral_has_the_same_frequency(mirror):
    theirs = mirror("corral")
    assert np.mean(theirs.X[:, 5] == theirs.y) == 0.75
