"""Two stored results: scores of the same folds are judged, times are a trend, the rest is a sentence."""

import io

import numpy as np
import pytest
from rich.console import Console
from stored_runs import TESTED, right, wrong_on

from mfbench.errors import ExitCode, UsageError
from mfbench.report.render.terminal import show
from mfbench_gate import api
from mfbench_gate.comparison import CellVerdict, WorseLimits
from mfbench_gate.display import comparison_report, to_json
from mfbench_gate.readers import read_benchmark_file, read_run
from mfbench_gate.stored import compare_stored


def compare(base, head, limits=None, **options):
    sides = [read_run(run, name) for run, name in ((base, "A"), (head, "B"))]
    return compare_stored(*sides, limits or WorseLimits(), **options)


def verdicts(comparison):
    return {(cell.method, cell.dataset, cell.measure): cell.verdict for cell in comparison.cells}


def test_a_run_is_no_worse_than_itself_and_its_times_are_a_trend(make_run):
    comparison = compare(make_run("a", {"A": right}), make_run("b", {"A": right}, seconds=3.0))
    assert verdicts(comparison) == {
        ("A", "d", "accuracy"): CellVerdict.NO_WORSE,
        ("A", "d", "time"): CellVerdict.TREND,
        ("A", "d", "memory"): CellVerdict.TREND,
    }
    assert comparison.exit_code is ExitCode.OK
    assert comparison.cells[1].ratio == 3.0
    assert "on machines of one kind, but not in one job" in comparison.notes[0]


def test_changed_predictions_are_counted_and_judged(make_run):
    worse = wrong_on(0, 1, folds=[0, 1, 2, 3, 4, 5, 6, 7])
    comparison = compare(make_run("a", {"A": right, "B": right}), make_run("b", {"A": worse, "B": right}))
    assert verdicts(comparison)["A", "d", "accuracy"] is CellVerdict.WORSE
    assert verdicts(comparison)["B", "d", "accuracy"] is CellVerdict.NO_WORSE
    assert [(each.method, each.n_rows, each.n_changed) for each in comparison.changes] == [("A", 40, 16)]
    assert comparison.exit_code is ExitCode.REGRESSION


def test_the_limit_decides(make_run):
    runs = make_run("a", {"A": right}), make_run("b", {"A": wrong_on(0, folds=[0, 3])})
    assert compare(*runs).exit_code is ExitCode.UNDECIDED
    assert compare(*runs, undecided_ok=True).exit_code is ExitCode.OK
    assert compare(*runs, WorseLimits(scores={"accuracy": 0.5})).exit_code is ExitCode.OK


def test_scores_on_other_folds_are_a_trend(make_run):
    other = np.arange(40).reshape(-1, 10).T
    comparison = compare(make_run("a", {"A": right}), make_run("b", {"A": wrong_on(0, folds=[0])}, tested=other))
    cell = comparison.cells[0]
    assert (cell.measure, cell.verdict, cell.reason) == (
        "accuracy",
        CellVerdict.TREND,
        "the test rows of the folds differ",
    )
    assert cell.difference < 0
    assert not comparison.changes
    assert comparison.notes[0].startswith("Scores on d are not pairs, because the test rows of the folds differ")
    assert comparison.exit_code is ExitCode.OK


def test_what_one_side_lacks_is_one_sentence_each_and_the_rest_is_judged(make_run):
    base = make_run("a", {"A": right, "B": right}, datasets=["d", "e"])
    head = make_run("b", {"A": {0: "crash"}, "C": right}, datasets=["d"], left_out=[("e", "it is damaged", None)])
    comparison = compare(base, head)
    assert {each.name: each.reason for each in comparison.omissions} == {
        "e": "This dataset is in base only; head left it out: it is damaged.",
        "B": "This method is in base only.",
        "C": "This method is in head only.",
        "A/d": "1 of 10 trials without a result in head (crash); the other 9 trials compared.",
    }
    assert verdicts(comparison)["A", "d", "accuracy"] is CellVerdict.NO_WORSE


def test_only_restricts_methods_and_datasets(make_run):
    methods = {"A": right, "B": right}
    runs = make_run("a", methods, datasets=["d", "e"]), make_run("b", methods, datasets=["d", "e"])
    comparison = compare(*runs, only=["B", "e"])
    assert {(cell.method, cell.dataset) for cell in comparison.cells} == {("B", "e")}


def test_two_timing_runs_are_a_trend_and_exit_with_success(make_run):
    base = make_run("a", {"A": right}, kind="timing", tested=TESTED[:3])
    head = make_run("b", {"A": wrong_on(0)}, kind="timing", tested=TESTED[:3], seconds=9.0)
    comparison = compare(base, head)
    assert {cell.verdict for cell in comparison.cells} == {CellVerdict.TREND}
    assert {cell.size for cell in comparison.cells} == {"n=36, p=3"}
    assert comparison.changes[0].n_changed == 3
    assert "Scores of a timing run are a learning curve and are not tested." in comparison.notes
    assert comparison.exit_code is ExitCode.OK


def test_sizes_of_one_timing_run_only(make_run):
    base = make_run("a", {"A": right}, kind="timing", tested=TESTED[:3])
    head = make_run("b", {"A": right}, kind="timing", tested=[*TESTED[:2], TESTED[2][:2]])
    comparison = compare(base, head)
    assert ("A/d/n=38, p=3", "This size is in head only.") in [(o.name, o.reason) for o in comparison.omissions]


def test_versions_that_differ_are_listed(make_run):
    head = make_run("b", {"A": right}, environment={"libraries": {"scikit-learn": "1.8"}, "cpu": "another"})
    notes = compare(make_run("a", {"A": right}), head).notes
    assert "on different machines (a processor; another)" in notes[0]
    assert notes[1] == "Versions differ: scikit-learn 1.7 → 1.8."


def test_limits_without_an_effect_are_listed(make_run):
    runs = make_run("a", {"A": right}), make_run("b", {"A": right})
    limits = WorseLimits(time=1.2, scores={"accuracy": 0.5, "mcc": 0.1})
    sentence = "Limits without an effect, because no cell is judged by them: time, mcc."
    assert sentence in compare(*runs, limits).notes
    assert not any("Limits" in note for note in compare(*runs).notes)


def test_nothing_in_common(make_run):
    with pytest.raises(UsageError, match="A and B have nothing in common: no method on the same dataset"):
        compare(make_run("a", {"A": right}), make_run("b", {"B": right}))


def test_failures_everywhere_leave_nothing_measured(make_run):
    comparison = compare(make_run("a", {"A": right}), make_run("b", {"A": "error"}))
    assert comparison.exit_code is ExitCode.NOTHING_MEASURED
    assert "nothing compared" in comparison.omissions[0].reason


def test_two_kinds_do_not_compare(make_run, benchmark_file):
    sides = read_run(make_run("a", {"A": right}), "A"), read_benchmark_file(benchmark_file("b.json", {"fit": [1.0]}))
    with pytest.raises(
        UsageError, match=r"A is a run and .*b\.json is a pytest-benchmark file; only results of one kind"
    ):
        compare_stored(*sides, WorseLimits())


def test_benchmark_files(benchmark_file):
    base = benchmark_file("a.json", {"fit": [1.0, 1.0], "old": [1.0], "bad": {"fullname": "bad"}})
    head = benchmark_file("b.json", {"fit": [2.0, 2.0, 2.0], "new": [1.0]}, machine_info={})
    comparison = compare_stored(read_benchmark_file(base), read_benchmark_file(head), WorseLimits())
    (cell,) = comparison.cells
    assert (cell.method, cell.ratio, cell.verdict) == ("tests/test_speed.py::fit", 2.0, CellVerdict.TREND)
    assert [each.name.rpartition(":")[2] for each in comparison.omissions] == ["old", "new", "bad"]
    assert comparison.omissions[2].reason == "In base: has no usable time in the file."
    assert comparison.title == "a.json and b.json"
    assert comparison.exit_code is ExitCode.OK


def test_benchmark_files_with_nothing_in_common(benchmark_file):
    base = read_benchmark_file(benchmark_file("a.json", {"one": [1.0]}))
    head = read_benchmark_file(benchmark_file("b.json", {name: [1.0] for name in "tuvw"}))
    with pytest.raises(UsageError, match=r"a\.json and .*b\.json have no benchmark in common"):
        compare_stored(base, head, WorseLimits())


def test_names_of_a_run_are_safe_wherever_they_are_shown(make_run):
    name = "A\x1b[31m"
    comparison = compare(make_run("a", {name: right}), make_run("b", {name: wrong_on(0), "\x07B": right}))
    console = Console(file=io.StringIO(), width=100)
    show(comparison_report(comparison), console)
    texts = [console.file.getvalue(), to_json(comparison), *(write(comparison) for write in api._WRITERS.values())]
    assert all(line.isprintable() for text in texts for line in text.splitlines())
