"""The judge of all faults must itself see what it is there to see."""

import sqlite3
from contextlib import closing

import pytest
from undisturbed import exactly_once, same_results, stored_trials


def _change(run, statement, *values):
    with closing(sqlite3.connect(run.path / "results.sqlite")) as db, db:
        assert db.execute(statement, values).rowcount == 1


@pytest.fixture
def two_runs(write_run):
    cells = {("iris", "A"): [0.5, 0.75], ("iris", "B"): [0.25, 0.5]}
    return write_run(cells, folds=2), write_run(cells, folds=2)


def test_runs_that_differ_in_times_alone_are_the_same(two_runs):
    one, two = two_runs
    _change(two, "UPDATE trials SET duration = 9.0, fit_wall = 1.0, peak_memory = 1 WHERE key = ?", "iris/A/0")
    same_results(one.path, two.path)
    exactly_once(one.path)
    assert stored_trials(one.path) == 4
    assert stored_trials(one.path / "none") == 0


@pytest.mark.parametrize(
    ("column", "value"),
    [("scores", '{"accuracy": 0.5000000001}'), ("seed", 2), ("selected", b"x"), ("status", "error")],
)
def test_any_other_column_makes_a_difference(two_runs, column, value):
    one, two = two_runs
    _change(two, f"UPDATE trials SET {column} = ? WHERE key = ?", value, "iris/A/0")
    with pytest.raises(AssertionError, match=f"trials iris/A/0: {column}"):
        same_results(one.path, two.path)


def test_a_result_that_is_missing_or_not_planned_is_noticed(two_runs):
    one, two = two_runs
    _change(two, "DELETE FROM trials WHERE key = ?", "iris/A/0")
    with pytest.raises(AssertionError, match="4 rows and 3 rows"):
        same_results(one.path, two.path)
    with pytest.raises(AssertionError, match="1 of 4 trials are missing"):
        exactly_once(two.path)
    _change(one, "DELETE FROM plan WHERE key = ?", "iris/A/0")
    with pytest.raises(AssertionError, match="1 stored trials are not planned"):
        exactly_once(one.path)


def test_working_files_are_noticed(two_runs):
    (two_runs[0].path / ".work").mkdir()
    with pytest.raises(AssertionError, match=r"files are left in .*\.work"):
        exactly_once(two_runs[0].path)
