import pytest

from mfbench_gate.looks import PAIRS_PER_BLOCK, Looks, plan_looks, reached
from mfbench_gate.sign_flip import MOST_PAIRS, minimum_pairs


def test_looks_are_whole_blocks_within_the_budget():
    for n_tests in [1, 20, 60]:
        for capacity in [2, 5, 12, 16, 20, 30, 40, 1000]:
            looks = plan_looks(n_tests, 0.05, capacity)
            assert list(looks.pairs) == sorted(set(looks.pairs))
            assert all(pairs % PAIRS_PER_BLOCK == 0 for pairs in looks.pairs)
            assert looks.pairs[-1] <= min(capacity, MOST_PAIRS)
            assert looks.share * len(looks.pairs) == pytest.approx(0.05)


@pytest.mark.parametrize("capacity", [20, 30, 40])
def test_every_one_of_several_looks_can_raise_an_alarm(capacity):
    looks = plan_looks(20, 0.05, capacity)
    if len(looks.pairs) > 1:
        assert looks.pairs[0] > minimum_pairs(20, looks.share)
    assert looks.minimum == minimum_pairs(20, looks.share)


def test_reached():
    looks = Looks((14, 22, 32), 0.05, 20)
    assert [reached(looks, n) for n in (0, 14, 31, 32)] == [[], [14], [14, 22], [14, 22, 32]]
