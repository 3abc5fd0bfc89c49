import numpy as np
import pytest

from mfbench_gate.comparison import CellVerdict, MeasuredCase, WorseLimits
from mfbench_gate.judge import OFFSETS, Analyses, PairedCosts, is_confirmed, judge_costs

FIT = MeasuredCase("RFF", "wine"), "fit"
MEMORY = MeasuredCase("RFF", "wine"), "memory"
LIMITS = WorseLimits(1.05, 1.1)


def measured(rng, ratio, noise, n=14, level=1.0):
    """Return paired costs: log-normal noise around a level, and repetitions of the base."""
    draw = lambda centre, size: list(centre * np.exp(rng.normal(0, noise / np.sqrt(2), size)))  # noqa: E731
    repeated = list(zip(draw(level, n // 2), draw(level, n // 2), strict=True))
    return PairedCosts(draw(level, n), draw(level * ratio, n), repeated)


def verdict_of(costs, key=FIT, n_tests=1, pairs=14):
    return judge_costs({key: costs}, LIMITS, Analyses((pairs,), 0.05, n_tests), pairs)[key]


def test_verdicts():
    for ratio, noise, expected in [
        (1.15, 0.02, CellVerdict.WORSE),
        (1.0, 0.02, CellVerdict.NO_WORSE),
        (0.7, 0.02, CellVerdict.NO_WORSE),
        (1.05, 0.03, CellVerdict.UNDECIDED),  # at the limit
        (1.0, 0.4, CellVerdict.UNDECIDED),  # noise
    ]:
        cell = verdict_of(measured(np.random.default_rng(0), ratio, noise))
        assert cell.verdict is expected
        assert bool(cell.reason) == (expected is CellVerdict.UNDECIDED)
        assert cell.low <= cell.ratio <= cell.high


def test_a_significant_difference_below_the_limit_is_no_alarm():
    cell = verdict_of(measured(np.random.default_rng(0), 1.03, 0.005))
    assert cell.p_value < 0.01
    assert cell.verdict is CellVerdict.NO_WORSE


def test_a_difference_within_the_noise_of_the_base_is_no_alarm():
    costs = measured(np.random.default_rng(0), 1.15, 0.02)
    costs.repeated = [(1.0, 1.3), (1.3, 1.0), (1.0, 1.25)]
    cell = verdict_of(costs)
    assert cell.verdict is CellVerdict.UNDECIDED
    assert cell.floor == pytest.approx(1.3, rel=0.01)
    assert "repeated measurements of the base" in cell.reason


def test_too_few_pairs_say_how_many_are_needed():
    cell = verdict_of(measured(np.random.default_rng(0), 1.5, 0.01, n=4), n_tests=20, pairs=4)
    assert cell.verdict is CellVerdict.UNDECIDED
    assert cell.reason == "4 pairs; at least 10 are needed to call a cell worse"


def test_only_the_pairs_of_the_analysis_count():
    costs = PairedCosts([1.0] * 20, [1.0] * 10 + [2.0] * 10)
    assert verdict_of(costs, pairs=10).verdict is CellVerdict.NO_WORSE
    assert verdict_of(costs, pairs=10).n_pairs == 10


def test_finished_cells_still_count_in_holms_adjustment():
    costs = {FIT: measured(np.random.default_rng(0), 1.3, 0.01, n=10)}
    plans = Analyses((10,), 0.05, 1), Analyses((10,), 0.05, 40)
    alone, among_forty = (judge_costs(costs, LIMITS, plan, 10)[FIT] for plan in plans)
    assert among_forty.p_value == pytest.approx(40 * alone.p_value)
    assert (alone.verdict, among_forty.verdict) == (CellVerdict.WORSE, CellVerdict.UNDECIDED)


@pytest.mark.parametrize("key", [FIT, MEMORY])
def test_costs_of_almost_nothing_do_not_count(key):
    tiny = OFFSETS[key[1]] / 100
    cell = verdict_of(PairedCosts([0.0] * 14, [tiny] * 14, [(0.0, tiny)] * 7), key)
    assert cell.verdict is CellVerdict.NO_WORSE


def test_a_cell_without_pairs_is_left_out():
    assert judge_costs({FIT: PairedCosts()}, LIMITS, Analyses((14,), 0.05, 1), 14) == {}


def test_false_alarms_over_many_cells_are_rarer_than_the_level():
    rng = np.random.default_rng(3)
    plan = Analyses((10,), 0.2, 5)
    keys = [(MeasuredCase("RFF", str(position)), "fit") for position in range(5)]
    jobs = [{key: measured(rng, 1.0, 0.3, n=10) for key in keys} for _ in range(60)]
    alarms = [
        any(cell.verdict is CellVerdict.WORSE for cell in judge_costs(job, LIMITS, plan, 10).values()) for job in jobs
    ]
    # Two-sided tests, of which one side is an alarm.
    assert np.mean(alarms) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 60)


def test_an_alarm_must_be_confirmed_by_new_pairs():
    rng = np.random.default_rng(4)
    assert is_confirmed(measured(rng, 1.15, 0.02, n=6), "fit", 1.05, 1.0, 0.05)
    assert not is_confirmed(measured(rng, 1.0, 0.02, n=6), "fit", 1.05, 1.0, 0.05)
    assert not is_confirmed(PairedCosts(), "fit", 1.05, 1.0, 0.05)


def test_a_difference_that_is_too_small_to_matter_is_no_alarm():
    costs = measured(np.random.default_rng(5), 1.0, 0.001)
    costs.base = [2e-4 + 1e-8 * number for number in range(len(costs.base))]
    costs.head = [value + 8e-5 for value in costs.base]  # 40 percent, and less than a tenth of a millisecond
    costs.repeated = [(2e-4, 2e-4)] * 5
    cell = verdict_of(costs)
    assert cell.verdict is CellVerdict.UNDECIDED
    assert cell.reason == "above the limit, but by less than 100 µs"
