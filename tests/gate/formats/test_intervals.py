"""The interval of a head lies around the head's own value."""

import pytest

from mfbench_gate.comparison import Cell, Verdict
from mfbench_gate.formats.intervals import head_interval

NAN = float("nan")


def test_the_interval_contains_the_value():
    low, high = head_interval(Cell("m", "d", "time", 1.0, 1.3, Verdict.WORSE, ratio=1.2, low=1.1, high=1.4))
    assert low < 1.3 < high
    assert (low, high) == pytest.approx((1.3 * 1.1 / 1.2, 1.3 * 1.4 / 1.2))


def test_no_interval():
    for numbers in [{"ratio": NAN}, {"low": NAN}, {"high": float("inf")}, {"ratio": 0.0}, {}]:
        fields = {"ratio": 1.2, "low": 1.1, "high": 1.3, **numbers} if numbers else {}
        assert head_interval(Cell("m", "d", "time", 1.0, 1.2, Verdict.WORSE, **fields)) is None
