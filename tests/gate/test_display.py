"""A comparison on a terminal: the outcome first, the verdict as a word, names without control characters."""

import io

import pytest
from rich.console import Console

from mfbench.report.render.terminal import show
from mfbench_gate.comparison import CellVerdict, ChangedPredictions, ComparedCell, Comparison, Omission, Side
from mfbench_gate.display import comparison_report
from mfbench_gate.scores import SAME_PREDICTIONS, SAME_SCORES


def printed(comparison, width=160, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    show(comparison_report(comparison), console)
    return console.file.getvalue()


@pytest.fixture
def comparison():
    return Comparison(
        Side("main", "0123abc", "a processor"),
        Side("HEAD"),
        "Times",
        cells=[
            ComparedCell("1NN", "wine", "accuracy", 0.9, 0.9, CellVerdict.NO_WORSE, "loses at most 0", difference=0.0),
            ComparedCell("RFF", "wine", "time", 0.01, 0.02, CellVerdict.WORSE, size="n=10", unit="s", ratio=2.0),
        ],
        changes=[ChangedPredictions("RFF", "wine", 178, 3)],
        omissions=[Omission("LDA", "This method is in base only.")],
        notes=["Versions differ: scikit-learn 1.7 → 1.8."],
    )


def test_the_outcome_comes_first_and_the_worse_cells_before_the_others(comparison):
    lines = [line.strip() for line in printed(comparison).splitlines() if line.strip()]
    assert lines[:3] == [
        "Worse: 1 of 2 cells", "Times; base: main (0123abc; a processor); head: HEAD", "Worse or undecided",
    ]  # fmt: skip
    columns = ["cell", "base", "head", "change", "verdict", "reason"]
    assert lines[3].split() == columns
    assert lines[5].split() == ["RFF/wine/n=10:", "time", "10", "ms", "20", "ms", "+100.0", "%", "✗", "worse"]
    assert (lines[6], lines[7].split()) == ("Other cells", columns)
    assert "✓ no worse" in lines[9]
    assert lines[10:] == [
        "Changed predictions", "RFF/wine: 3 of 178 rows", "Not compared", "LDA: This method is in base only.",
        "Notes", "Versions differ: scikit-learn 1.7 → 1.8.", "The probability of any false alarm is at most 5 %.",
    ]  # fmt: skip


def test_the_report_is_valid(comparison):
    for section in comparison_report(comparison).sections:
        section.check()


def test_a_trend_claims_no_level(comparison):
    comparison.cells = [ComparedCell("test_fit", "", "time", 1.0, 2.0, CellVerdict.TREND, unit="s", ratio=2.0)]
    text = printed(comparison)
    assert "test_fit: time" in text
    assert "false alarm" not in text


def test_identical_predictions_are_counted_instead_of_listed(comparison):
    same = [ComparedCell("A", name, "accuracy", 1.0, 1.0, CellVerdict.NO_WORSE, SAME_PREDICTIONS) for name in "de"]
    comparison.cells += [*same, ComparedCell("A", "d", "mcc", 1.0, 1.0, CellVerdict.NO_WORSE, SAME_SCORES)]
    text = printed(comparison)
    assert "✓ accuracy: the predictions of 2 cells are identical" in text
    assert "✓ mcc: the scores of A/d are identical" in text
    assert "predictions are identical" not in text
    comparison.cells = same
    assert "change" not in printed(comparison)


def test_nothing_was_compared():
    assert printed(Comparison(Side("a"), Side("b"))).split("\n")[1] == "Nothing was compared"


def test_colour_is_never_the_only_carrier(comparison):
    text = printed(comparison, force_terminal=True, color_system="standard")
    assert "\x1b[" in text
    for word in ("worse", "no worse"):
        assert word in text


def test_names_are_neither_markup_nor_control_sequences(comparison):
    comparison.cells = [ComparedCell("[red]a\x1b[31m", "d\x07", "time", 1.0, 1.0, CellVerdict.TREND, "[/]")]
    comparison.notes = ["[bold]note\x1b]0;title\x07"]
    text = printed(comparison)
    assert "[red]a[31m" in text
    assert "[bold]note]0;title" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_narrow_terminal_shows_every_verdict(comparison):
    text = printed(comparison, width=60)
    assert "✗ worse" in text
    assert "✓ no worse" in text
