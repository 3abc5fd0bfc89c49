"""Groups as letters."""

from itertools import combinations

import hypothesis.strategies as st
from hypothesis import given

from mfbench.stats.multiple import letters

PAIRS = [*combinations(range(5), 2)]


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_items_share_a_letter_exactly_if_they_do_not_differ(different):
    found = [set(own.split()) for own in letters(5, sorted(different))]
    for pair in PAIRS:
        assert bool(found[pair[0]] & found[pair[1]]) == (pair not in different)
    groups = [{item for item in range(5) if letter in found[item]} for letter in set.union(*found)]
    assert not any(one < other for one in groups for other in groups), "no letter is superfluous"


def test_letters_follow_the_order_of_the_items():
    assert letters(3, []) == ["a", "a", "a"]
    assert letters(3, [(0, 2)]) == ["a", "a b", "b"]
    assert letters(3, [(0, 1), (0, 2), (1, 2)]) == ["a", "b", "c"]
    assert letters(30, [(i, j) for i in range(30) for j in range(i)])[26:28] == ["aa", "ab"]
