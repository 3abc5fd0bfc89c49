"""Remarks: what was left out, failed, has not run or raised warnings."""

import pytest
from toy_protocols import completed, recorded

from mfbench.model.trials import Status, TrialResult, Unavailable
from mfbench.report.brief import problems
from mfbench.report.sections.remarks import left_out, remarks


def test_what_is_missing_is_named(small_run):
    lines = remarks(small_run).notes
    assert "Left out: gone: no network" in lines
    assert "Failed: C on wine: 1 × error: ValueError: no | way at all" in lines
    assert not any(line.startswith("Not run yet") for line in lines)


@pytest.mark.parametrize(("datasets", "them"), [(["a"], "it"), (["a", "b"], "them")])
def test_what_no_repository_has_can_be_imported(datasets, them):
    (line,) = left_out(dict.fromkeys(datasets, ""), {name: Unavailable() for name in datasets}, "uci")
    assert line == (
        f"Left out as unavailable: {', '.join(datasets)}; no known repository has {them}: name a mirror that does with "
        f"--data-dir, or import {them} with: mfbench datasets import"
    )


def test_a_part_of_a_suite_says_so(write_run):
    run = write_run({("d", "A"): 0.5})
    assert not any("part of the suite" in line for line in remarks(run).notes)
    run.meta = run.meta.model_copy(update={"only": ["iris", "?NN"]})
    assert "A part of the suite: --only iris, ?NN." in remarks(run).notes
    run.meta = run.meta.model_copy(update={"part": "small", "part_patterns": ["iris", "1NN"]})
    assert "A part of the suite: --part small --only iris, ?NN." in remarks(run).notes


def test_dropped_classes_and_methods_for_two_classes_are_named(write_run):
    run = write_run({("d", "A"): 0.5})
    assert not any("lasses" in line for line in remarks(run).notes)
    dropped = {"d": {"x": 1}, "e": {"x": 3000, "y": 2, "z": 1, "w": 1}}
    run.meta = run.meta.model_copy(update={"dropped_classes": dropped, "unsuited": {"B": ["d", "e"]}})
    head = "Classes dropped, because the suite keeps the two largest: 'x' (1 row) of d; "
    assert f"{head}'x' (3,000 rows), 'y' (2 rows), 'z' (1 row) and 'w' (1 row) of e." in remarks(run).notes
    assert f"{head}4 classes (3,004 rows) of e." in problems(run)
    line = "Left out: B on d and e: it is for two classes, by scikit-learn's tag multi_class."
    assert line in remarks(run).notes and line in problems(run)


def test_failures_with_and_without_a_message(write_run, failure):
    run = write_run({("d", "A"): [failure(), failure(Status.MEMORY, "MemoryError", ""), 0.5, 0.5, 0.5]})
    assert "Failed: A on d: 1 × memory: MemoryError: no message" in remarks(run).notes


def test_failures_are_grouped_by_status(write_run, failure):
    late = failure(Status.TIMEOUT, "TimeoutError", "too late")
    run = write_run({("d", "A"): [failure(), failure(), late, 0.5, 0.5]})
    failed = [line for line in remarks(run).notes if line.startswith("Failed")]
    assert failed == [
        "Failed: A on d: 2 × error: ValueError: no way",
        "Failed: A on d: 1 × timeout: TimeoutError: too late",
    ]


def test_what_has_not_run_is_counted(write_run):
    run = write_run({("d", "A"): [0.5, 0.5, None, None, None]})
    assert any(line.startswith("Not run yet: 3 of 5 trials") for line in remarks(run).notes)


def test_warnings_are_listed_by_method(write_run):
    def warned():
        return TrialResult(key="", scores={"accuracy": 0.5}, n_warnings=2, warning="UserWarning: did not converge")

    run = write_run({("d", "A"): [warned(), warned(), 0.5, 0.5, 0.5], ("d", "B"): 0.5})
    assert [line for line in remarks(run).notes if "Warnings" in line] == [
        "Warnings: A: in 2 trials, for example UserWarning: did not converge"
    ]


def test_changes_of_shared_state_are_listed_by_method(write_run):
    def marked():
        return TrialResult(key="", scores={"accuracy": 0.5}, touched="os.environ (X)")

    run = write_run({("d", "A"): [marked(), marked(), 0.5, 0.5, 0.5], ("d", "B"): 0.5})
    assert [line for line in remarks(run).notes if "global state" in line] == [
        "Changed global state: A: in 2 trials, for example os.environ (X); its worker was replaced, so that no other "
        "trial is affected."
    ]


def test_long_messages_are_cut(write_run, failure):
    run = write_run({("d", "A"): [failure(message="x" * 900), 0.5, 0.5, 0.5, 0.5]})
    (line,) = [line for line in remarks(run).notes if line.startswith("Failed")]
    assert len(line) < 300
    assert line.endswith("…")


def test_a_run_without_trials_says_so(write_run):
    notes = remarks(write_run({}, left_out=[("gone", "no network")])).notes
    assert notes[0] == "No trials: there was nothing to measure."
    assert any("gone" in note for note in notes)


def test_undefined_scores_are_one_line_for_methods_that_lack_the_same(write_run):
    gaps = [{} for _ in range(5)]
    cells = {("d", "A"): gaps, ("d", "B"): 0.5, **{("e", name): gaps for name in "ABCD"}}
    run = write_run({**cells, ("d", "C"): 0.5, ("d", "D"): 0.5}, metrics=["log_loss"])
    reason = "the classifier does not provide what the metric needs, a test part lacks a class, or the metric failed."
    lines = [note for note in remarks(run).notes if note.startswith("Undefined")]
    assert lines == [
        f"Undefined: log_loss of A on d and e; {reason}",
        f"Undefined: log_loss of B, C and D on e; {reason}",
    ]


def test_undefined_scores_of_detection_have_a_reason_of_their_own(write_run):
    run = write_run({("d", name): [{} for _ in range(5)] for name in "ABCDE"}, metrics=["area"])
    protocol = completed(kind="ground-truth", metrics=run.metrics)
    run.meta = run.meta.model_copy(update=recorded(protocol))
    (line,) = [note for note in remarks(run).notes if note.startswith("Undefined")]
    reason = "the metric needs features that are relevant and features that are not"
    assert line == f"Undefined: area of 5 methods on d; {reason}."
