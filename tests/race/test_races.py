"""Whole races: the same methods are dropped whatever the number of workers, and after an interruption."""

import json

import pytest

import mfbench
from mfbench.report.contents import report_of

SUITE = """
[suite]
name = "small-race"
title = "A race"
description = "Methods that differ."

[report]
reference = "DUM"

[protocol]
kind = "repeated-cv"
folds = 5
repeats = 2

[[datasets]]
use = ["iris", "wine"]

[[methods]]
label = "3NN"
classifier = "knn(n_neighbors=3)"

[[methods]]
label = "5NN"
classifier = "knn(n_neighbors=5)"

[[methods]]
label = "DUM"
classifier = "dummy"
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a race; it returns the run and the record."""
    file = tmp_path / "small-race.toml"
    file.write_text(SUITE)

    def start(out, **options):
        result = mfbench.run_suite(str(file), profile="full", race="plan", out=tmp_path / out, offline=True, **options)
        record = result.path / "race.json"
        return result, json.loads(record.read_text()) if record.exists() else None

    return start


def without_times(record):
    return [{name: value for name, value in each.items() if "seconds" not in name} for each in record["dropped"]]


@pytest.mark.slow(reason="three runs with processes")
def test_the_same_methods_are_dropped_with_one_and_with_four_workers_and_after_a_budget(run):
    alone, record = run("one", jobs=1)
    assert [entry["method"] for entry in record["dropped"]] == ["DUM"]
    assert without_times(run("four", jobs=4)[1]) == without_times(record)
    cut, none = run("cut", jobs=1, budget=0.01)
    assert cut.n_pending and none is None  # no look has been reached
    resumed, again = run("cut", jobs=1)
    assert not resumed.n_pending and without_times(again) == without_times(record)
    assert resumed.scores.equals(alone.scores)

    assert set(alone.methods) == set(alone.wins_ties_losses()["method"]) | {alone.settings.reference} == {"3NN", "5NN"}
    assert set(alone.overall().claims.methods) == {"3NN", "5NN"}
    sections = {section.title: section for section in report_of(alone).sections}
    (row,) = [[cell.text for cell in row] for row in sections["Race"].tables[0].rows]
    assert row[1] == f"{record['dropped'][0]['look']} folds"
    assert sections["Race"].notes[1].startswith("Dropped: 1 of 3 methods.")
    assert sections["Race"].notes[-1] == (
        "The reference, Constant guess, was dropped: comparisons are with k-NN (3NN) instead."
    )
