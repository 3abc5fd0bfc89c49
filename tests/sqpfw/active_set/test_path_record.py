"""The pace along a path: leaps over points where ties stall it."""

from mfbench_sqpfw._active_set.breakpoints import RESTART, TIE_FORMS, Breakpoint
from mfbench_sqpfw._active_set.path_record import Pace


def test_leaps_double_until_a_breakpoint_makes_progress():
    pace = Pace(3)
    for _ in range(52):
        pace.note(Breakpoint(0.0, TIE_FORMS, 0, 0))
        assert not pace.stalled
    pace.note(Breakpoint(0.0, TIE_FORMS, 0, 0))
    assert pace.stalled
    first = pace.leap(0.5, 1.0)
    assert first.kind == RESTART and first.theta > 0.5
    pace.note(first)
    assert not pace.stalled
    pace.give_up()
    assert pace.stalled
    assert abs((pace.leap(0.5, 1.0).theta - 0.5) / (first.theta - 0.5) - 2) < 1e-6
    pace.note(Breakpoint(0.9, TIE_FORMS, 0, 0))
    assert pace.leap(0.5, 1.0).theta == first.theta


def test_a_leap_ends_at_the_end_of_the_path():
    assert Pace(3).leap(1.0 - 1e-9, 1.0).theta == 1.0
