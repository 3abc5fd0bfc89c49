"""The section on curves: a table and a chart for each classifier, details on request, and nothing without curves."""

import csv
import io

import numpy as np
import pytest

from mfbench import load_run
from mfbench.errors import UsageError
from mfbench.model.trials import TrialResult
from mfbench.report.brief import brief_report, reading_notes
from mfbench.report.charts.drawing import MOST_DATASETS
from mfbench.report.contents import report_of
from mfbench.report.heading import Form
from mfbench.report.present import present_run
from mfbench.report.render.files import to_csv, to_markdown
from mfbench.report.sections.curves import curve_details, curves, points

NOISE = np.array([0.02, -0.01, 0.0, 0.01, -0.02])
DESCRIBE = {"A1": "a → knn", "B1": "b → knn", "A2": "a → svm [tunes C 1, 10]"}
METRICS = ("area", "accuracy")
TITLE = "Accuracy against the number of features"


@pytest.fixture
def cell(curved):
    """Return a function that makes five folds whose mean curve is that."""

    def make(*means, sizes=(1, 2, 4), **fields):
        turned = [NOISE if number % 2 else NOISE[::-1] for number in range(len(means))]
        table = np.add(np.array(means)[:, None], turned)
        return [curved(list(column), sizes, **fields) for column in table.T]

    return make


@pytest.fixture
def run(write_run, cell):
    """Two datasets; A1 is better than B1 on both, and needs two features; A2 has another classifier."""
    cells = {
        ("d", "A1"): cell(0.5, 0.9, 0.9), ("d", "B1"): cell(0.5, 0.6, 0.8), ("d", "A2"): cell(0.4, 0.5, 0.5),
        ("e", "A1"): cell(0.5, 0.9, 0.9), ("e", "B1"): cell(0.5, 0.6, 0.88), ("e", "A2"): cell(0.4, 0.5, 0.5),
    }  # fmt: skip
    return write_run(cells, describe=DESCRIBE, features="uvwx", relevant={"d": [0, 3]})


def test_a_tuned_and_an_untuned_classifier_are_different_groups(write_run, cell):
    describe = {"T": "a → knn [tunes n_neighbors 1, 3]", "U": "a → knn", "S": "a → knn [tunes k 1, 2]"}
    run = write_run({("d", label): cell(0.5, 0.9, 0.9) for label in "TUS"}, describe=describe, features="uvwx")
    assert [table.title for table in curves(run).tables] == ["Classifier knn, on d"]  # of an earlier version
    classifiers = {"T": "knn [tunes n_neighbors 1, 3]", "U": "knn", "S": "knn"}
    again = load_run(run.path)
    again.meta = again.meta.model_copy(update={"classifiers": classifiers})
    section = curves(again)
    assert [table.title for table in section.tables] == [
        "Classifier knn [tunes n_neighbors 1, 3], on d",
        "Classifier knn, on d",
    ]
    assert [[row[0] for row in texts(table)] for table in section.tables] == [["T"], ["U", "S"]]
    assert [chart.name for chart in section.charts] == ["curves-01-knn-tunes-n-neighbors-1-3", "curves-02-knn"]


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_each_classifier_has_a_table_and_a_chart(run):
    section = curves(run)
    assert section.title == TITLE
    assert [table.title for table in section.tables] == [
        "Classifier knn, over 2 datasets",
        "Classifier svm, over 2 datasets",
    ]
    assert [chart.name for chart in section.charts] == ["curves-01-knn", "curves-02-svm"]
    first = section.tables[0]
    assert [name.replace("\n", " ") for name in first.columns] == [
        "method", "area", "area, linear", "rank", "sufficient size", "95 % size", "stability", "precision", "recall",
    ]  # fmt: skip
    # Log: (0.5 + 0.9) / 4 + 0.9 / 2 = 0.8. Linear: 0.7 / 3 + 0.9 · 2 / 3 = 0.833.
    assert texts(first)[0] == ["A1", "0.800", "0.833", "1.00", "2", "2", "1.00", "0.50", "0.50"]
    assert first.rows[0][1].role == "best" and first.rows[1][1].role == "plain"


def test_sizes_that_some_datasets_lack_say_on_how_many_they_are(run):
    row = texts(curves(run).tables[0])[1]
    # 95 % of 0.9 are 0.855: B1 reaches them on e alone.
    assert row[0] == "B1" and row[5] == "4 (1/2)"
    assert "95 %\nsize" not in curves(run).tables[1].columns  # A2 is never close
    assert any("8 of 10 datasets" in note for note in curves(run).notes)


def test_the_stability_of_all_features_is_undefined(run):
    assert texts(curves(run).tables[0])[1][6] == "–"  # B1 needs all features on both datasets


def test_an_incomplete_cell_leaves_the_rank_and_is_marked_in_the_details(write_run, cell, failure):
    cells = {
        ("d", "A1"): cell(0.5, 0.9, 0.9), ("d", "B1"): [*cell(0.5, 0.6, 0.8)[:4], failure()],
        ("e", "A1"): cell(0.5, 0.9, 0.9), ("e", "B1"): cell(0.5, 0.6, 0.88),
    }  # fmt: skip
    run = write_run(cells, describe=DESCRIBE, features="uvwx")
    assert "knn: 1 of 2 datasets" in curves(run).notes[-1]
    (b,) = [row for row in curve_details(run).tables[0].rows if row[0].text == "B1"]
    assert b[1].text.endswith("(4/5)") and b[1].role == "missing"
    assert b[4].text == "–"  # four folds allow no test


def test_the_details_have_a_table_for_each_dataset_the_largest_area_first(run):
    tables = curve_details(run).tables
    assert [table.title for table in tables] == ["d", "e"]
    assert [row[0] for row in texts(tables[0])] == ["A1", "B1", "A2"]
    assert texts(tables[0])[0] == ["A1", "0.800", "0.833", "2: 90.0", "2: 90.0", "2", "1.00", "0.50", "0.50"]
    assert len(tables[1].columns) == 7  # no truth is known on e
    names = [chart.name for chart in curve_details(run).charts]
    assert names == ["curves-stability", "curves-precision", "curves-recall"]


def test_one_dataset_is_named(write_run, cell):
    section = curves(write_run({("d", "A1"): cell(0.5, 0.9, 0.9)}, describe=DESCRIBE, features="uvwx"))
    assert section.tables[0].title == "Classifier knn, on d"
    assert section.tables[0].rows[0][1].role == "plain"  # a method alone is not the best of several
    assert any("Of one dataset." in note for note in section.notes)


def test_one_fold_and_one_size(write_run, curved):
    run = write_run({("d", "A1"): [curved([0.7], (4,))]}, describe=DESCRIBE, features="uvwx")
    (row,) = texts(curves(run).tables[0])
    assert row == ["A1", "0.700", "0.700", "1.00", "4", "4"]


def test_too_few_folds_for_a_test_leave_its_column_out(write_run, cell):
    run = write_run({("d", "A1"): cell(0.5, 0.9, 0.9)[:3]}, folds=3, describe=DESCRIBE, features="uvwx")
    (table,) = curves(run).tables
    assert "sufficient\nsize" not in table.columns and "95 %\nsize" in table.columns
    assert table.rows[0][table.columns.index("stability")].text == "1.00"  # at the best size


def test_a_loss_is_not_in_percent_and_the_smallest_area_is_the_best(write_run, cell):
    cells = {("d", "A1"): cell(0.5, 0.2, 0.2, metric="log_loss"), ("d", "B1"): cell(0.5, 0.4, 0.4, metric="log_loss")}
    run = write_run(cells, metrics=["log_loss"], describe=DESCRIBE, features="uvwx")
    section = curves(run)
    assert curve_details(run).notes[0].endswith("; smallest area first.")
    (close,) = [note for note in section.notes if note.startswith("95 % size")]
    assert "whose mean log_loss is at most 1/0.95 of the smallest one of any method" in close
    assert "smallest: 0.2 with" in section.charts[0].alt()
    assert section.title == "log_loss against the number of features"
    (table,) = section.tables
    assert texts(table)[0][:4] == ["A1", "0.275", "0.250", "1.00"] and table.rows[0][1].role == "best"


def test_areas_over_different_ranges_are_noted(run, write_run, cell):
    cells = {
        ("d", "A1"): cell(0.5, 0.9, 0.9),
        ("d", "B1"): cell(0.6, 0.8, sizes=(2, 4)),
        ("e", "A1"): cell(0.5, 0.9, 0.9),
    }
    other = write_run(cells, describe=DESCRIBE, features="uvwx")
    assert next(note for note in curves(other).notes if "own sizes" in note).endswith("with care: d.")
    assert not [note for note in curves(run).notes if "own sizes" in note]
    for own, has in ((other, True), (run, False)):
        brief = [note for section in brief_report(own, 120).sections for note in section.notes]
        assert any("own sizes" in note for note in brief) == has


def test_where_a_constant_guess_does_well_is_noted(write_run, cell):
    sentence = "One class exceeds 65 % of the rows of skewed: a constant prediction has a high accuracy at every number"
    truths = {"even": [0, 1], "skewed": [0, 1, 1, 1]}
    run = write_run(
        {(name, "A"): cell(0.6, 0.7, 0.8) for name in truths}, metrics=METRICS, truths=truths, features="uvwx"
    )
    (note,) = [note for note in curves(run).notes if "constant" in note]
    assert note.startswith(sentence)
    assert any(note.startswith("A constant guess has a high accuracy on skewed.") for note in reading_notes(run))
    even = write_run({("even", "A"): cell(0.6, 0.7, 0.8)}, metrics=METRICS, truths=truths, features="uvwx")
    assert "constant" not in " ".join([*curves(even).notes, *reading_notes(even)])


def test_datasets_that_the_charts_lack_are_counted_and_can_be_read_elsewhere(write_run, cell):
    labels = [f"d{number}" for number in range(MOST_DATASETS + 1)]
    run = write_run({(label, "A1"): cell(0.5, 0.9, 0.9) for label in labels}, describe=DESCRIBE, features="uvwx")
    words = (
        "The charts have the first 60 of 61 datasets. 'mfbench report RUN --curves' writes the points of all as CSV."
    )
    assert words in curves(run).notes and words in curve_details(run).notes
    assert len(points(run)["dataset"].unique()) == 61
    whole = write_run({(label, "A1"): cell(0.5, 0.9, 0.9) for label in labels[1:]}, describe=DESCRIBE, features="uvwx")
    assert words not in curves(whole).notes and not any("charts have" in note for note in curves(whole).notes)


def test_it_is_in_the_reports_of_runs_with_curves_alone(run, small_run):
    for own, has in ((run, True), (small_run, False)):
        for report in (report_of(own), brief_report(own, 120)):
            assert (TITLE in [section.title for section in report.sections if section.has_content]) == has
    assert f"{TITLE}, by dataset" in to_markdown(report_of(run, statistics=True))
    assert f"{TITLE}, by dataset" not in to_markdown(report_of(run))


def test_csv_has_the_summary_beside_the_scores(run):
    rows = list(csv.DictReader(io.StringIO(to_csv(report_of(run, everything=True)))))
    first = next(row for row in rows if (row["dataset"], row["method"]) == ("d", "A1"))
    assert (first["classifier"], first["curve_sufficient_size"], first["curve_close_size"]) == ("knn", "2.0", "2.0")
    assert float(first["curve_area"]) == pytest.approx(0.8)


def test_the_points_of_all_curves_are_another_csv(run):
    frame = points(run)
    assert len(frame) == 6 * 3
    rows = list(csv.DictReader(io.StringIO(present_run(run, Form("curves"), None))))
    assert list(rows[0]) == list(frame.columns)
    assert [float(row["mean"]) for row in rows] == pytest.approx(frame["mean"].tolist())
    own = next(row for row in rows if (row["dataset"], row["method"], row["size"]) == ("d", "A1", "2"))
    assert (own["precision"], own["recall"], own["folds"]) == ("0.5", "0.5", "5")


def test_a_run_without_curves_has_no_points(small_run):
    with pytest.raises(UsageError, match="--curves needs a run with"):
        present_run(small_run, Form("curves"), None)


def test_methods_without_a_curve_stay_in_the_other_tables(write_run, cell):
    cells = {("d", "A1"): cell(0.5, 0.9, 0.9), ("d", "1NN"): [TrialResult(key="", scores={"accuracy": 0.7})] * 5}
    run = write_run(cells, describe=DESCRIBE, features="uvwx")
    assert set(run.curve_summary["method"]) == {"A1"} and set(run.scores["method"]) == {"A1", "1NN"}


def test_of_a_run_that_is_not_complete_the_common_folds_count(write_run, cell):
    cells = {("d", "A1"): cell(0.5, 0.9, 0.9), ("d", "B1"): [*cell(0.5, 0.6, 0.8)[:3], None, None]}
    run = write_run(cells, describe=DESCRIBE, features="uvwx")
    assert set(run.curve_means["folds"]) == {3} == set(run.curve_rankings["folds"])
    assert run.curve_summary["planned"].tolist() == [3, 3]


def test_without_common_folds_there_is_no_section(write_run, cell, failure):
    """Both methods failed on the first fold, and only one has the second."""
    fold = cell(0.5, 0.9, 0.9)[0]
    cells = {("d", "A1"): [failure(), fold], ("d", "B1"): [failure(), None]}
    run = write_run(cells, describe=DESCRIBE, features="uvwx", folds=2)
    assert len(run.curves) > 0 and not len(run.curve_means)
    for form in (Form("json"), Form("csv"), Form("md", statistics=True)):
        assert TITLE not in present_run(run, form, None)
    with pytest.raises(UsageError):
        present_run(run, Form("curves"), None)


def test_a_part_of_the_datasets_has_their_curves_alone(run):
    part = run.restricted(["d"])
    for frame in (part.curve_summary, part.curve_means):
        assert set(frame["dataset"]) == {"d"}
    assert set(part.curve_overview["compared"]) == {1}


def test_a_dummy_takes_the_place_of_what_is_missing(write_run, cell, failure):
    run = write_run(
        {("d", "A1"): cell(0.5, 0.9, 0.9), ("d", "B1"): [failure()] * 5},
        describe=DESCRIBE,
        features="uvwx",
        metrics=["area", "accuracy"],
        report={"missing": "impute-dummy"},
    )
    assert len(run.summary()) == 2
