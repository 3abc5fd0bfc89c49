import pytest

from mfbench_gate.judge import PAIRS_PER_BLOCK, plan_analyses
from mfbench_gate.scores import MOST_PAIRS, minimum_pairs


def test_analyses_are_whole_blocks_within_the_budget():
    for n_tests in [1, 20, 60]:
        for capacity in [2, 5, 12, 16, 20, 30, 40, 1000]:
            plan = plan_analyses(n_tests, 0.05, capacity)
            assert list(plan.pairs) == sorted(set(plan.pairs))
            assert all(pairs % PAIRS_PER_BLOCK == 0 for pairs in plan.pairs)
            assert plan.pairs[-1] <= min(capacity, MOST_PAIRS)
            assert plan.share * len(plan.pairs) == pytest.approx(0.05)


@pytest.mark.parametrize("capacity", [20, 30, 40])
def test_each_of_several_analyses_can_raise_an_alarm(capacity):
    plan = plan_analyses(20, 0.05, capacity)
    if len(plan.pairs) > 1:
        assert plan.pairs[0] > minimum_pairs(20, plan.share)
    assert plan.minimum == minimum_pairs(20, plan.share)
