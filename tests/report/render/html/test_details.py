"""Details of a cell: the figures of its folds, computed here once more from what was stored."""

import json

import numpy as np
import pytest

from mfbench.model.trials import Status, TrialResult
from mfbench.report.render.html.tables import MOST_ERRORS, MOST_FEATURES, MOST_PARAMETERS, details_of

SCORES, TIMES, MEMORY, CHOSEN, SELECTED, ERRORS = range(6)


def result(accuracy=0.9, **fields):
    return TrialResult(key="", scores={"accuracy": accuracy}, **fields)


@pytest.fixture
def run(write_run, failure):
    timed = [
        result(0.9, tune_wall=t, select_wall=2 * t, fit_wall=3 * t, predict_wall=4 * t, peak_memory=m)
        for t, m in ((1.0, 3_000_000), (10.0, 1_000), (3.0, 2_000))
    ]
    lost = TrialResult(key="", status=Status.TIMEOUT, fit_wall=99.0, peak_memory=9_000_000)
    return write_run({("d", "A"): [*timed, lost, None], ("e", "B"): [failure()] * 5})


def test_scores_stand_in_the_order_of_the_folds(run):
    details = details_of(run)
    assert details["d", "A"][SCORES] == [0.9, 0.9, 0.9, None, None]
    assert details["e", "B"][SCORES] == [None] * 5


def test_scores_are_those_of_the_trials_to_four_digits(write_run):
    run = write_run({("d", "A"): [0.123456, 0.5, 1.0, 0.0, 2 / 3]})
    assert details_of(run)["d", "A"][SCORES] == [0.1235, 0.5, 1.0, 0.0, 0.6667]


def test_times_are_medians_over_trials_that_succeeded(run):
    details = details_of(run)
    assert details["d", "A"][TIMES] == [3.0, 6.0, 9.0, 12.0]
    assert details["e", "B"][TIMES] == [None] * 4
    done = run.outcomes[(run.outcomes["dataset"] == "d") & (run.outcomes["status"] == "ok")]
    assert details["d", "A"][TIMES] == done[["tune_wall", "select_wall", "fit_wall", "predict_wall"]].median().tolist()


def test_memory_is_the_largest_of_trials_that_succeeded(run, write_run):
    details = details_of(run)
    assert details["d", "A"][MEMORY] == 3_000_000
    assert details["e", "B"][MEMORY] is None
    unknown = write_run({("d", "A"): [result(), result(peak_memory=5)], ("d", "B"): [result()] * 2}, folds=2)
    memory = {place: cell[MEMORY] for place, cell in details_of(unknown).items()}
    assert memory["d", "A"] == 5


def test_chosen_parameters_are_counted_most_frequent_first(write_run):
    chosen = [{"k": 3, "power": 2.0}, {"k": 1, "power": 2.0}, {"k": 3, "power": 2.0}, {"k": 5, "power": 1.0}, {}]
    cells = {("d", "A"): [result(chosen=choice) for choice in chosen], ("d", "B"): 0.5}
    details = details_of(write_run(cells, selection={"A": "nested"}))
    assert details["d", "A"][CHOSEN] == [
        ("k = 3, power = 2.0", 2),
        ("k = 1, power = 2.0", 1),
        ("k = 5, power = 1.0", 1),
    ]
    assert details["d", "B"][CHOSEN] == []


def test_parameters_of_a_method_that_is_not_tuned_are_not_shown(write_run):
    assert details_of(write_run({("d", "A"): [result(chosen={"k": 1})] * 5}))["d", "A"][CHOSEN] == []


def test_selected_features_are_counted_and_named(write_run):
    sets = [[0, 2], [2], [2, 3], [0, 2], [2]]
    picked = [result(n_selected=len(s), selected=np.array(s)) for s in sets]
    everything = [result(n_selected=4, selected=np.arange(4))] * 5
    run = write_run({("d", "A"): picked, ("d", "B"): everything}, features=("u", "v", "w", "x"))
    details = details_of(run)
    assert details["d", "A"][SELECTED] == [("w", 5), ("u", 2), ("x", 1)]
    assert details["d", "B"][SELECTED] == []  # every feature is used in every fold


def test_errors_are_counted_with_their_status(write_run, failure):
    lost = TrialResult(key="", status=Status.CRASH)
    details = details_of(write_run({("d", "A"): [failure(), lost, failure(), 0.9, failure(message="x" * 1000)]}))
    first, *others = details["d", "A"][ERRORS]
    assert first == ("error: ValueError: no way", 2)
    assert ("crash", 1) in others
    assert max(len(text) for text, _ in details["d", "A"][ERRORS]) == 400


def test_long_lists_are_cut(write_run, failure):
    features = [f"f{i}" for i in range(30)]
    many = [result(chosen={"k": i}, n_selected=20, selected=np.arange(i, i + 20)) for i in range(10)]
    failed = [failure(message=f"reason {i}") for i in range(10)]
    run = write_run({("d", "A"): many, ("d", "B"): failed}, folds=10, features=features, selection={"A": "nested"})
    details = details_of(run)
    assert len(details["d", "A"][CHOSEN]) == MOST_PARAMETERS + 1
    assert details["d", "A"][CHOSEN][-1] == (f"… and {10 - MOST_PARAMETERS} more, at most", 1)
    assert len(details["d", "A"][SELECTED]) == MOST_FEATURES + 1
    assert details["d", "A"][SELECTED][-1][0] == f"… and {29 - MOST_FEATURES} more, at most"
    assert details["d", "A"][SELECTED][0] == ("f9", 10)
    assert len(details["d", "B"][ERRORS]) == MOST_ERRORS + 1


def test_details_are_plain(run):
    details = json.loads(json.dumps(list(details_of(run).values()), allow_nan=False))
    assert details[1][ERRORS] == [["error: ValueError: no way", 5]]
