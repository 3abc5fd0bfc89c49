"""The nouns of a comparison: names of cells, exit codes, and intervals."""

import pytest

from mfbench.errors import ExitCode
from mfbench_gate.comparison import CellVerdict, ComparedCell, Comparison, MeasuredCase, Side


def of(*verdicts, **options):
    cells = [ComparedCell("m", "d", "time", 1.0, 1.0, verdict) for verdict in verdicts]
    return Comparison(Side("main"), Side("HEAD"), cells=cells, **options)


def test_exit_code():
    for comparison, code in [
        (of(), ExitCode.NOTHING_MEASURED),
        (of(CellVerdict.NO_WORSE, CellVerdict.TREND), ExitCode.OK),
        (of(CellVerdict.TREND), ExitCode.OK),
        (of(CellVerdict.NO_WORSE, CellVerdict.UNDECIDED), ExitCode.UNDECIDED),
        (of(CellVerdict.NO_WORSE, CellVerdict.UNDECIDED, undecided_ok=True), ExitCode.OK),
        (of(CellVerdict.UNDECIDED, CellVerdict.WORSE), ExitCode.REGRESSION),
        (of(CellVerdict.WORSE, undecided_ok=True), ExitCode.REGRESSION),
    ]:
        assert comparison.exit_code is code


@pytest.mark.parametrize(("dataset", "size", "name"), [("d", "n=10", "m/d/n=10"), ("d", "", "m/d"), ("", "", "m")])
def test_the_name_of_a_cell_has_no_empty_parts(dataset, size, name):
    assert ComparedCell("m", dataset, "time", 1.0, 1.0, CellVerdict.TREND, size=size).name == name


def test_the_interval_of_a_head_lies_around_its_own_value():
    low, high = ComparedCell("m", "d", "time", 1.0, 1.3, CellVerdict.WORSE, ratio=1.2, low=1.1, high=1.4).head_interval
    assert low < 1.3 < high
    assert (low, high) == pytest.approx((1.3 * 1.1 / 1.2, 1.3 * 1.4 / 1.2))


def test_no_interval():
    nan = float("nan")
    for numbers in [{"ratio": nan}, {"low": nan}, {"high": float("inf")}, {"ratio": 0.0}, {}]:
        fields = {"ratio": 1.2, "low": 1.1, "high": 1.3, **numbers} if numbers else {}
        assert ComparedCell("m", "d", "time", 1.0, 1.2, CellVerdict.WORSE, **fields).head_interval is None


@pytest.mark.parametrize(
    ("place", "name"),
    [(MeasuredCase("m", "d", "n=10"), "m/d/n=10"), (MeasuredCase("m", "d"), "m/d"), (MeasuredCase("bench"), "bench")],
)
def test_the_name_of_a_place(place, name):
    assert place.name == name
