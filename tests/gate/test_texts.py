"""The headline puts the outcome first; numbers are readable."""

from mfbench_gate.comparison import MARKS, CellVerdict, ComparedCell, Comparison, Side, amount, change, headline

NAN = float("nan")


def cell(verdict, **fields):
    return ComparedCell(
        **{"method": "m", "dataset": "d", "measure": "time", "base": 1.0, "head": 1.0, "verdict": verdict, **fields}
    )


def test_headline():
    for verdicts, text in [
        ([], "Nothing was compared"),
        (["WORSE", "NO_WORSE", "TREND"], "Worse: 1 of 2 cells"),
        (["WORSE", "UNDECIDED"], "Worse: 1 of 2 cells, undecided: 1"),
        (["UNDECIDED", "NO_WORSE"], "Undecided: 1 of 2 cells, none is worse"),
        (["NO_WORSE"], "No worse: the only cell"),
        (["NO_WORSE", "NO_WORSE", "TREND"], "No worse: all 2 cells with a verdict"),
        (["TREND"], "No verdict: 1 cell without measurements that compare"),
    ]:
        assert headline(Comparison(Side("a"), Side("b"), cells=[cell(CellVerdict[name]) for name in verdicts])) == text


def test_amount():
    for value, unit, text in [
        (2.5, "s", "2.5 s"),
        (0.0123, "s", "12.3 ms"),
        (4.2e-5, "s", "42 µs"),
        (3e-9, "s", "3 ns"),
        (0.0, "s", "0 s"),
        (2.5e9, "B", "2.5 GB"),
        (512, "B", "512 B"),
        (0.5, "", "0.5000"),
        (NAN, "s", "–"),
        (float("inf"), "s", "–"),
    ]:
        assert amount(value, unit) == text


def test_change():
    assert change(cell(CellVerdict.TREND, ratio=0.95)) == "-5.0 %"
    assert change(cell(CellVerdict.WORSE, ratio=1.2, low=1.1, high=float("inf"))) == "+20.0 %"
    assert change(cell(CellVerdict.NO_WORSE, difference=0.01)) == "+0.0100"
    assert change(cell(CellVerdict.TREND)) == "–"
    assert change(cell(CellVerdict.NO_WORSE, difference=-0.0)) == "+0.0000"
    assert change(cell(CellVerdict.TREND, ratio=1.0 - 1e-9)) == "+0.0 %"


def test_every_verdict_has_a_mark_of_its_own_and_worse_comes_first():
    assert [f"{mark} {verdict}" for verdict, mark in MARKS.items()] == [
        "✗ worse",
        "? undecided",
        "✓ no worse",
        "~ trend",
    ]
    assert set(MARKS) == set(CellVerdict)
