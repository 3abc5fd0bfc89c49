import itertools

from pairwise import pairwise


def test_every_pair_is_there_in_few_rows():
    levels = ["abcd", [True, False], range(3), [0.0, 0.5], "xyzuvw"]
    rows = pairwise(*levels)
    assert len(rows) < 35
    assert len(set(rows)) == len(rows)
    for i, j in itertools.combinations(range(5), 2):
        assert {(row[i], row[j]) for row in rows} == set(itertools.product(levels[i], levels[j]))
