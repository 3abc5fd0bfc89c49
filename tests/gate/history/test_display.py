"""The report of a history: the tables, the notes that name a cause, the commands, and JSON."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from mfbench.report.render.files import to_json
from mfbench_gate.history.display import bisect_commands, history_report, show_history
from mfbench_gate.history.storage import Machine
from mfbench_gate.history.trends import select_series, trend_of


def noisy(levels, length=6):
    return np.repeat(levels, length) * np.exp(np.random.default_rng(0).normal(0.0, 0.01, length * len(levels)))


@pytest.fixture
def trends(make_entry):
    """Return a function that makes the trends of a series of levels."""

    def make(levels=(1.0, 1.3), measure="time", kernels=None, **changes):
        entries = [
            make_entry(k, value, kernels=(kernels or {}).get(k // 6, (0.1, 0.1, 0.1)), **changes)
            for k, value in enumerate(noisy(levels))
        ]
        return [trend_of(series) for series in select_series(entries, measure)]

    return make


def printed(trends, measure="time", width=160):
    console = Console(width=width, record=True, file=io.StringIO())
    show_history(history_report("h.sqlite", measure, trends), trends, console)
    return console.export_text()


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_trends_and_changes(trends):
    report = history_report("h.sqlite", "time", trends())
    assert report.setting == "CPU time to fit and to predict: 1 series, 12 commits, 1 kind of machine"
    (section,) = report.sections
    assert section.title == "CPU time to fit and to predict on a processor, 2 processors, Linux"
    section.check()
    trend, change = section.tables
    assert trend.columns == ["method", "dataset", "trend", "runs", "last", "last change"]
    ((method, dataset, line, runs, last, size),) = texts(trend)
    assert (method, dataset, len(line), runs, last[:2], last[-1]) == ("A", "iris", 12, "12", "1.", "s")
    assert size.endswith("% (worse)")
    ((name, _, before, after, where, kernels),) = texts(change)
    assert (name, before[-1], after[-1]) == ("A/iris", "s", "s")
    assert where == "between 0000005 and 0000006"
    assert kernels == "+0.0 %"


def test_sizes_have_a_column(trends):
    report = history_report("h", "time", trends(measured={"size": "n=10, p=2"}))
    assert report.sections[0].tables[0].columns[2] == "size"


def test_kinds_of_machine_have_sections_of_their_own(make_entry):
    entries = [make_entry(0), make_entry(1, machine=Machine("another", 8, "Linux"))]
    report = history_report("h", "time", [trend_of(series) for series in select_series(entries)])
    assert [section.title.partition(" on ")[2] for section in report.sections] == [
        "a processor, 2 processors, Linux",
        "another, 8 processors, Linux",
    ]


def test_the_machine_as_the_likelier_cause(trends):
    notes = history_report("h", "time", trends(kernels={1: (0.13, 0.13, 0.13)})).sections[0].notes
    assert notes[0] == (
        "A/iris, between 0000005 and 0000006: the calibration kernels changed by as much (+30.0 %), so the machine "
        "is the likelier cause."
    )


def test_a_change_within_a_commit(trends):
    made = trends(commit="a" * 40)
    report = history_report("h", "time", made)
    assert texts(report.sections[0].tables[1])[0][4] == "within aaaaaaa"
    assert "A/iris: commit aaaaaaa was measured before and after the change, so no commit is its cause." in list(
        report.sections[0].notes
    )
    assert bisect_commands(made) == []


def test_false_alarms_are_announced_for_costs_only(trends):
    notes = history_report("h", "time", trends()).sections[0].notes
    assert notes[-1].endswith("Noise alone shows a change in at most 5 % of such series: here in about 0.1 of 1.")
    assert history_report("h", "accuracy", trends(measure="accuracy")).sections[0].notes == []


def test_short_series_and_zeros(make_entry):
    entries = [make_entry(0), make_entry(1, 0.0)]
    notes = history_report("h", "time", [trend_of(series) for series in select_series(entries)]).sections[0].notes
    assert notes == [
        "A change needs 3 runs before and 3 after it: 1 trend has fewer than 6 runs.",
        "1 value left out: zero, which is below what the system can measure.",
    ]


@pytest.mark.parametrize(
    ("measure", "levels", "size"),
    [("accuracy", (0.9, 0.85), "-5.00 points (worse)"), ("mcc", (0.5, 0.625), "+0.125 (better)")],
)
def test_changes_of_scores(make_entry, measure, levels, size):
    entries = [make_entry(k, measured={"scores": {measure: levels[k // 6]}}) for k in range(12)]
    report = history_report("h", measure, [trend_of(series) for series in select_series(entries, measure)])
    assert texts(report.sections[0].tables[1])[0][1] == size


def test_the_commands_can_be_copied_from_a_narrow_terminal(trends):
    text = printed(trends(), width=60)
    (command,) = [line for line in text.splitlines() if line.startswith("git bisect")]
    assert command == bisect_commands(trends())[0][1]


def test_only_the_last_change_is_bisected(trends):
    assert len(bisect_commands(trends((1.0, 1.3, 1.7)))) == 1
    assert bisect_commands(trends((1.0, 1.3, 1.0))) == []


def test_json(trends):
    content = json.loads(to_json(history_report("h", "time", trends())))
    (series,) = content["series"]
    assert (series["method"], series["machine"]["cpu"], len(series["points"])) == ("A", "a processor", 12)
    assert len(series["machine"]["id"]) == 12
    (change,) = series["changes"]
    assert (change["last_before"]["commit"][:7], change["is_worse"]) == ("0000005", True)
    assert change["bisect"].startswith("git bisect start ")
