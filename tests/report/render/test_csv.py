"""CSV: one line per cell, with the columns that sections add."""

import csv
import io

import pandas as pd

from mfbench.model.sections import Report, Section
from mfbench.report.contents import report_of
from mfbench.report.render.files import to_csv


def csv_of(run):
    return to_csv(report_of(run, everything=True))


class TestCsv:
    def test_one_line_for_each_cell_with_the_references_verdict(self, small_run):
        rows = list(csv.DictReader(io.StringIO(csv_of(small_run))))
        assert [(row["dataset"], row["method"]) for row in rows] == [(d, m) for d in ("iris", "wine") for m in "ABC"]
        assert [row["verdict"] for row in rows] == ["tie", "", "win", "loss", "", ""]
        assert float(rows[0]["mean"]) == small_run.scores["mean"].iloc[0]
        assert [row["best"] for row in rows] == ["True", "False", "False", "True", "False", "False"]

    def test_lines_end_alike_everywhere(self, small_run):
        assert "\r" not in csv_of(small_run)

    def test_no_trials_leave_the_head(self, write_run):
        assert csv_of(write_run({}, left_out=[("gone", "no network")])).startswith("dataset,method,mean")


def test_rows_with_the_same_keys_are_joined_and_others_ignored():
    first = pd.DataFrame({"dataset": ["d", "e"], "method": ["A", "A"], "mean": [1, 2]})
    second = pd.DataFrame({"dataset": ["e"], "method": ["A"], "extra": [7.5]})
    other = pd.DataFrame({"dataset": ["d"], "method": ["A"], "figure": ["f1"], "more": [0]})
    sections = [
        Section(name, rows=lambda frame=frame: [frame])
        for name, frame in zip("abc", (first, second, other), strict=True)
    ]
    assert to_csv(Report("t", "s", sections)) == "dataset,method,mean,extra\nd,A,1,\ne,A,2,7.5\n"
