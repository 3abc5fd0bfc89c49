"""Times of two stored results are a ratio without a verdict, with the reason."""

import pytest

from mfbench_gate.comparison import BENCHMARK_FILE, CellVerdict, MeasuredCase, Side, StoredResult
from mfbench_gate.history.display import NOT_TOGETHER, trend_cells, why_trend


def result(times, kind="run", machine="m", memory=None):
    return StoredResult(Side("a", machine=machine), kind, "t", times=times, memory=memory or {})


PLACE = MeasuredCase("A", "d", "n=10")


def test_only_folds_of_both_sides_are_used():
    base, head = {(0, 0): 1.0, (0, 1): 100.0}, {(0, 0): 1.5, (0, 2): 7.0}
    (cell,) = trend_cells(result({PLACE: base}), result({PLACE: head, MeasuredCase("B"): head}))
    assert (cell.name, cell.measure, cell.unit, cell.verdict) == ("A/d/n=10", "time", "s", CellVerdict.TREND)
    assert (cell.base, cell.head, cell.ratio, cell.reason) == (1.0, 1.5, 1.5, NOT_TOGETHER)
    assert (cell.base_values, cell.head_values) == ((1.0,), (1.5,))


def test_the_rounds_of_a_benchmark_are_not_paired():
    base, head = {(0, 0): 1.0}, {(0, n): 2.0 + n for n in range(3)}
    (cell,) = trend_cells(result({PLACE: base}, BENCHMARK_FILE), result({PLACE: head}, BENCHMARK_FILE))
    assert cell.ratio == 3.0


def test_memory():
    cells = trend_cells(result({}, memory={PLACE: {(0, 0): 10.0}}), result({}, memory={PLACE: {(0, 0): 20.0}}))
    assert [(cell.measure, cell.unit, cell.ratio) for cell in cells] == [("memory", "B", 2.0)]


def test_folds_without_a_counterpart_have_no_cell():
    assert not trend_cells(result({PLACE: {(0, 0): 1.0}}), result({PLACE: {(0, 1): 1.0}}))


def test_a_base_without_measurable_time_has_no_ratio():
    (cell,) = trend_cells(result({PLACE: {(0, 0): 0.0}}), result({PLACE: {(0, 0): 1.0}}))
    assert cell.ratio != cell.ratio
    assert "no measurable time" in cell.reason


@pytest.mark.parametrize(
    ("machines", "words"),
    [
        (("m", "m"), "on machines of one kind, but not in one job"),
        (("m", "n"), "on different machines (m; n)"),
        (("", "n"), "on machines that at least one of the results does not name"),
    ],
)
def test_the_reason_names_the_machines(machines, words):
    base, head = (result({}, machine=machine) for machine in machines)
    assert words in why_trend(base, head)
