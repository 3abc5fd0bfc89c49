"""Combinations of settings, few enough to test all of them."""

import itertools
import random


def pairwise(*levels):
    """Return rows that contain every pair of values of every two settings, in an order that does not change.

    A product of many settings is mostly repetition: faults depend on one setting or on two.

    Examples
    --------
    >>> len(pairwise("ab", range(3), range(4)))
    12
    """
    rows = list(itertools.product(*(range(len(values)) for values in map(list, levels))))
    random.Random(0).shuffle(rows)
    missing = set().union(*map(_pairs, rows))
    chosen = []
    while missing:
        best = max(rows, key=lambda row: len(missing & _pairs(row)))
        missing -= _pairs(best)
        chosen.append(best)
    return [tuple(list(values)[k] for values, k in zip(levels, row, strict=True)) for row in sorted(chosen)]


def _pairs(row):
    return set(itertools.combinations(enumerate(row), 2))
