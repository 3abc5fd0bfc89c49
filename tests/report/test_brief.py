"""The short report: what fits on a screen, in the order in which it is read, and nothing that is not so."""

import inspect
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console
from toy_protocols import completed, recorded

from mfbench.model.trials import Status, TrialResult, Unavailable
from mfbench.report import brief
from mfbench.report.brief import brief_report, method_lines, problems, reading_notes, time_spent
from mfbench.report.cells import seconds
from mfbench.report.render.terminal import show
from mfbench_protocols.plugin import DETECTION_METRICS

SPREAD, IN_ORDER = [-0.02, -0.01, 0, 0.01, 0.02], [0, 1, 2, 3, 4]
ROOT = Path(__file__).resolve().parents[2]


def printed(run, width, **options):
    console = Console(file=io.StringIO(), width=width)
    show(brief_report(run, width, **options), console)
    return console.file.getvalue().rstrip("\n").split("\n")[1:]


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def anchors(path):
    """The anchors of the headings of a Markdown file, by the rule of GitHub."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def large(tmp_path_factory, run_writer):
    """27 methods on 16 datasets; method 26 is the best everywhere, 25 the second."""
    rng = np.random.default_rng(0)
    cells = {
        (f"a-dataset-with-a-long-name-{d:02}", f"M{m:02}"): list(0.5 + 0.015 * m + rng.normal(0, 0.002, 5))
        for d in range(16)
        for m in range(27)
    }
    describe = {f"M{m:02}": f"selector-{m} (with a parameter = 0.{m}) → top 5 → a classifier" for m in range(27)}
    return run_writer(tmp_path_factory.mktemp("large"))(cells, describe=describe)


class TestLargeRun:
    @pytest.mark.parametrize("width", [80, 200])
    def test_no_line_is_longer_than_the_terminal(self, large, width):
        lines = printed(large, width, page=Path("reports/own/report.html"), full="mfbench report own --full")
        assert max(map(cell_len, lines)) <= width

    def test_every_method_has_one_line(self, large):
        lines = printed(large, 200)
        start = lines.index("Methods, best mean accuracy first")
        end = lines.index("", start + 5)
        found = [line.split()[0] for line in lines[start:end] if re.match(r" *M\d\d ", line)]
        assert found == [f"M{m:02}" for m in reversed(range(27))]

    def test_a_gap_is_drawn_in_the_remaining_width_or_left_out(self, large):
        wide, narrow, least = (method_lines(large, width) for width in (200, 80, 40))
        assert least.columns == ["method", "mean", "gap", "W/T/L", "time"]
        for table in (wide, narrow):
            bars = [row[3].text for row in table.rows]
            assert len(set(map(cell_len, bars))) == 1
            assert bars[0].strip() == "●"
            assert "○" in bars[-1] and "│" in bars[-1]
        assert [row[2].text for row in wide.rows][:2] == ["best", "−1.5"]

    def test_scores_of_many_datasets_are_left_to_the_full_report(self, large):
        report = brief_report(large, 200)
        assert [table.columns[0] for section in report.sections for table in section.tables] == ["method"]
        assert not any(note.startswith("Bold") for section in report.sections for note in section.notes)

    def test_names_stand_beside_labels_where_there_is_room(self, large):
        run = large.replace()
        run.meta = large.meta.model_copy(update={"names": {"M26": "A method with a name that is very long"}})
        wide, narrow = method_lines(run, 120), method_lines(run, 80)
        assert wide.rows[0][0].text.startswith("A method with a name that is")
        assert wide.rows[0][0].text.endswith("…")
        assert wide.columns[:2] == ["method", "label"]
        assert wide.rows[0][1].text == "M26"
        assert narrow.columns[:2] == ["method", "mean"]
        assert cell_len(narrow.rows[0][0].text) <= brief.SHORT_NAME


class TestSmallRun:
    @pytest.fixture
    def run(self, write_run):
        cells = {
            (dataset, method): list(mean - shift + np.array(SPREAD)[order])
            for dataset, shift in (("iris", 0.0), ("wine", 0.1))
            for method, mean, order in (("A", 0.9, IN_ORDER), ("B", 0.85, IN_ORDER[::-1]), ("C", 0.5, [1, 0, 2, 3, 4]))
        }
        return write_run(cells, report={"reference": "A"})

    def test_datasets_are_rows_with_means_deviations_and_totals(self, run):
        section = brief_report(run, 100).sections[1]
        assert section.title == "Accuracy, percent: mean ± sd over folds"
        (table,) = section.tables
        assert table.columns == ["dataset", "A", "B", "C"]
        assert [row[0].text for row in table.rows][:2] == ["iris", "wine"]
        assert table.rows[0][1].text == "90.0 ± 1.6"
        assert table.footer_rows == len(table.rows) - 2
        assert texts(table)[-1] == ["average rank", "1.00", "2.00", "3.00"]

    def test_a_method_has_its_mean_gap_verdicts_and_time(self, run):
        table = method_lines(run, 40)
        assert table.columns == ["method", "mean", "gap", "W/T/L", "time"]
        summary = run.summary().set_index("method")
        time = seconds(10 * 0.25)
        assert texts(table)[0] == ["A", "85.0", "best", "reference", time]
        wins = [int(summary.loc["C", f"sound_{word}"]) for word in ("win", "tie", "loss")]
        assert texts(table)[2] == ["C", "45.0", "−40.0", "/".join(map(str, wins)), time]
        assert wins == [2, 0, 0]

    def test_the_answer_is_first_and_the_page_is_last(self, run):
        lines = printed(run, 300, page=Path("reports/own/report.html"), command="mfbench report own --open")
        assert lines[3:5] == [
            "On these 2 datasets, A is better on average than both other methods, both by more than 1 percentage "
            "point.",
            "2 datasets cannot support a statement about other datasets: it takes 6.",
        ]
        assert lines[-1] == "Page: reports/own/report.html"
        lines = printed(run, 300, command="mfbench report own --open", full="mfbench report own --full")
        assert lines[-1] == "Page: mfbench report own --open"
        assert "All tables, tests and remarks: mfbench report own --full" in lines
        assert not any("Page" in line for line in printed(run, 300))

    def test_five_methods_on_two_datasets_take_at_most_forty_lines(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(d, m): list(rng.normal(0.8, 0.02, 5)) for d in ("iris", "wine") for m in "ABCDE"}
        cells["wine", "E"][0] = TrialResult(key="", status=Status.TIMEOUT)
        run = write_run(cells, left_out=[("gone", "no network")])
        lines = printed(run, 100, page=Path("reports/own/report.html"), full="mfbench report own --full")
        assert len(lines) <= 40


class TestProblems:
    def test_nothing_is_said_of_a_run_without_problems(self, write_run):
        assert problems(write_run({("iris", "A"): 0.9})) == []

    def test_a_method_that_failed_has_one_line(self, write_run, failure):
        failed = failure(message="no\n  way " + "x" * 200)
        cells = {(d, "A"): 0.9 for d in "defgh"} | {(d, "B"): [failed] * 5 for d in "defg"}
        (line,) = problems(write_run(cells))
        assert line.startswith("Failed: B: 20 trials on d, e, f and 1 more; error: no way xxx")
        assert line.endswith("x…")
        assert cell_len(line.partition("; ")[2]) == brief.LONGEST_REASON

    def test_a_failure_without_a_message_states_its_status_alone(self, write_run):
        failed = [TrialResult(key="", status=Status.CRASH), *[TrialResult(key="", status=Status.ERROR)] * 4]
        other = [TrialResult(key="", status=Status.ERROR, error_type="E", error_message="no way")] * 5
        run = write_run({("d", "A"): 0.9, ("d", "B"): failed, ("d", "C"): other})
        assert problems(run) == ["Failed: B: 5 trials on d; crash", "Failed: C: 5 trials on d; error: no way"]

    @pytest.mark.parametrize(
        ("n", "last"), [(5, "Failed: M5: "), (6, "Failed: 1 more method."), (8, "3 more methods.")]
    )
    def test_beyond_five_methods_failures_are_counted(self, write_run, failure, n, last):
        cells = {("d", "A"): 0.9} | {("d", f"M{i}"): [failure()] * 5 for i in range(1, n + 1)}
        lines = problems(write_run(cells))
        assert len(lines) == min(n, 6)
        assert last in lines[-1]

    def test_left_out_datasets_and_trials_that_have_not_run_are_counted(self, write_run):
        run = write_run({("d", "A"): [0.9, None, None]}, folds=3, left_out=[("gone", "no network")])
        assert problems(run) == ["Left out: gone: no network", "Not run yet: 2 of 3 trials."]

    def test_unavailable_datasets_name_the_command(self, write_run):
        run = write_run({("d", "A"): 0.9}, left_out=[("gone", "no network")])
        run.unavailable = {"gone": Unavailable(can_pull=True)}
        assert "mfbench datasets pull own" in problems(run)[0]

    def test_warnings_are_counted_over_methods(self, write_run):
        warned = TrialResult(key="", scores={"accuracy": 0.9}, n_warnings=3, warning="it did not converge")
        cells = {("d", "A"): [warned, 0.9], ("e", "A"): [warned, 0.9], ("d", "B"): [warned, 0.9], ("e", "B"): 0.9}
        assert problems(write_run(cells, folds=2)) == ["Warnings: 3 trials of A and B."]

    def test_state_that_a_trial_changed_is_named(self, write_run):
        touched = TrialResult(key="", scores={"accuracy": 0.9}, touched="numpy's random state")
        assert problems(write_run({("d", "A"): [touched, 0.9]}, folds=2)) == [
            "Changed global state, such as environment variables or random states: 1 trial of A."
        ]

    def test_remarks_on_the_run_come_first(self, write_run):
        run = write_run({("d", "A"): [0.9, None]}, folds=2)
        run.remarks = ["Joined from 2 runs."]
        assert problems(run)[0] == "Joined from 2 runs."


BALANCED = {"iris": [0, 1, 0, 1], "wine": [0, 1, 1, 0]}


class TestNotes:
    @pytest.fixture
    def cells(self):
        return {
            (d, m): list(mean + np.array(SPREAD[::step]))
            for d in BALANCED
            for m, mean, step in (("A", 0.9, 1), ("B", 0.5, -1))
        }

    def test_a_plain_run_needs_the_two_notes_on_marks(self, write_run, cells):
        notes = reading_notes(write_run(cells, truths=BALANCED))
        assert [note.partition(":")[0] for note in notes] == ["Bold", "W/T/L"]
        assert "losses of A." in notes[1]

    def test_one_method_needs_no_note_on_marks(self, write_run):
        assert reading_notes(write_run({("iris", "A"): 0.9}, truths=BALANCED)) == []

    def test_a_long_run_names_what_took_its_time(self, write_run):
        def took(seconds):
            return [TrialResult(key="", scores={"accuracy": 0.9}, duration=seconds) for _ in range(5)]

        short = write_run({("iris", "A"): took(1.0), ("iris", "B"): took(2.0)})
        assert time_spent(short) == []
        cells = {
            ("iris", "A"): took(90.0),
            ("iris", "B"): took(8.0),
            ("wine", "A"): took(0.5),
            ("wine", "B"): took(1.5),
        }
        assert time_spent(write_run(cells)) == [
            "Trials took 8 min 20 s of worker time. By method: A 90 %, B 10 %. By dataset: iris 98 %."
        ]

    def test_optimistic_tuning_is_named(self, write_run, cells):
        run = write_run(cells, truths=BALANCED, selection={"A": "nested", "B": "per-dataset"})
        assert any(note.startswith("Tuned on the reported folds, so optimistic: B.") for note in reading_notes(run))
        nested = write_run(cells, truths=BALANCED, selection={"A": "nested", "B": "nested"})
        assert not any("optimistic" in note for note in reading_notes(nested))

    def test_a_difference_without_spread_has_no_verdict(self, write_run, cells):
        cells["wine", "B"] = [value - 0.1 for value in cells["wine", "A"]]
        notes = reading_notes(write_run(cells, truths=BALANCED))
        assert any(note.startswith("W/T/L in brackets") for note in notes)
        assert any(note.startswith("?: no test is possible.") for note in notes)

    def test_unbalanced_classes_are_named_for_accuracy_alone(self, write_run, cells):
        truths = {**BALANCED, "wine": [0, 1, 1, 1]}
        (note,) = [note for note in reading_notes(write_run(cells, truths=truths)) if "constant guess" in note]
        assert "on wine." in note
        run = write_run(cells, truths=truths, metrics=("balanced_accuracy",))
        assert not any("constant guess" in note for note in reading_notes(run))

    def test_incomplete_cells_are_explained(self, write_run, cells, failure):
        cells["wine", "B"][0] = failure()
        notes = reading_notes(write_run(cells, truths=BALANCED))
        assert any(note.startswith("Incomplete cells are not compared") for note in notes)

    def test_every_link_leads_to_a_heading(self):
        source = inspect.getsource(brief).replace("{DOCS}", brief.DOCS)
        links = re.findall(r"(docs/[\w-]+\.md)#([\w-]+)", source)
        assert len(links) >= 6
        for file, anchor in links:
            assert anchor in anchors(ROOT / file), f"{file} has no heading for #{anchor}"


class TestKinds:
    def test_methods_equal_by_construction(self, write_run):
        rng = np.random.default_rng(0)
        cells = {(f"two(seed={i})", m): list(rng.random(5)) for i in range(4) for m in "AB"}
        run = write_run(cells, report={"equal": [["A", "B"]]})
        right = {m: [rng.random(20) < 0.7 for _ in range(5)] for m in "AB"}
        run.decisions = lambda dataset, method: right[method]
        report = brief_report(run, 100, full="mfbench report own --full")
        assert report.sections[0].title.startswith("Rejected at α = 0.05")
        assert report.answer == []
        assert max(map(cell_len, printed(run, 100))) <= 100

    def test_times(self, write_run):
        late = TrialResult(key="", status=Status.TIMEOUT)
        run = write_run({("d", "A"): 0.5, ("d", "B"): [0.5, late, 0.5]}, folds=3)
        protocol = completed(kind="timing", repeats=1, steps=2)
        run.meta = run.meta.model_copy(update=recorded(protocol))
        sizes = {"fold": [0, 1, 2], "n_train": [50, 100, 100], "n_features": [2, 2, 1]}
        run.sizes = pd.DataFrame({"dataset": "d", "repeat": 0, **sizes, "n_validation": 0, "n_test": 9})
        lines = printed(run, 100, command="mfbench report own --open")
        assert lines[-1] == "Page: mfbench report own --open"
        assert "Failed: B: 1 trial on d; timeout" in lines
        assert not any("average rank" in line or "W/T/L" in line for line in lines)

    def test_ground_truth(self, write_run):
        rng = np.random.default_rng(0)
        cells = {
            (d, m): [
                TrialResult(key="", scores=dict(zip(DETECTION_METRICS, row, strict=True)), selected=np.array([0]))
                for row in rng.random((5, len(DETECTION_METRICS))).tolist()
            ]
            for d in "de"
            for m in "AB"
        }
        run = write_run(cells)
        protocol = completed(kind="ground-truth", rounds=5, metrics=["detection"])
        run.meta = run.meta.model_copy(update=recorded(protocol, rules={"A": "positive", "B": "relevant"}))
        run.trials = run.trials.assign(repeat=run.trials["fold"], fold=0)
        report = brief_report(run, 100)
        assert len(report.sections[0].tables) == 1
        assert not any(note.startswith("Bold") for section in report.sections for note in section.notes)
        lines = printed(run, 100)
        assert max(map(cell_len, lines)) <= 100
        assert any("On these 2 datasets" in line for line in lines[:5])

    def test_nothing_to_measure(self, write_run):
        run = write_run({}, left_out=[("gone", "no network")])
        lines = printed(run, 100)
        assert "No trials: there was nothing to measure." in lines
        assert "Left out: gone: no network" in lines
